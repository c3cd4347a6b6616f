using ActOp.Calls;
using Orleans.Core.Internal;

namespace Orleans.Runtime;

/// <content>Call-chain reentrancy: calls back into a grain that waits for the call chain they are part of.</content>
public static partial class RequestContext
{
    /// <summary>
    /// Until the section is disposed, calls that descend from calls made here may run beside them on the calling activation.
    /// </summary>
    public static ReentrancySection AllowCallChainReentrancy()
    {
        var original = ReentrancyId;
        return new ReentrancySection(original, original == Guid.Empty ? Guid.NewGuid() : original);
    }

    /// <summary>Until the section is disposed, calls made here are not part of a call chain that may re-enter activations.</summary>
    public static ReentrancySection SuppressCallChainReentrancy() => new(ReentrancyId, Guid.Empty);

    /// <summary>A stretch of code whose calls belong, or do not belong, to a call chain that may re-enter activations.</summary>
    /// <remarks>Ends on the activation that it began on, wherever it is disposed. Outside of grains only the id changes.</remarks>
    public readonly struct ReentrancySection : IDisposable
    {
        private readonly Guid _original;
        private readonly Guid _entered;
        private readonly ICallChainReentrantGrainContext? _activation;

        /// <summary>Begins a section.</summary>
        /// <param name="originalReentrancyId">The id that is set again at the end.</param>
        /// <param name="newReentrancyId">The id inside; empty to leave call chains.</param>
        public ReentrancySection(Guid originalReentrancyId, Guid newReentrancyId)
        {
            _original = originalReentrancyId;
            _entered = newReentrancyId;
            if (newReentrancyId != Guid.Empty)
            {
                _activation = CallHost.Current as ICallChainReentrantGrainContext;
                _activation?.OnEnterReentrantSection(newReentrancyId);
            }

            ReentrancyId = newReentrancyId;
        }

        /// <summary>Ends the section.</summary>
        public readonly void Dispose()
        {
            _activation?.OnExitReentrantSection(_entered);
            ReentrancyId = _original;
        }
    }
}
