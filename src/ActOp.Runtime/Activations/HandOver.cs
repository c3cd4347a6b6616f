using ActOp.Runtime.Directory;
using Orleans.Runtime;

namespace ActOp.Runtime.Activations;

/// <summary>
/// Which of two activations goes on with the state of a grain that moves: the one on the target, or the one that its source creates if the
/// target does not answer. Decided once, by the source, which the target asks before its first turn.
/// </summary>
/// <remarks>
/// <para>A target that is registered may be cut off before its answer arrives, and goes on until its lease has ended. The directory alone
/// cannot tell the source whether that has happened: its answer may be lost as well, or the slot with it. But a target that has not asked
/// has run no turn. So the source that takes the state back knows that it is the newest, and that nobody else runs the grain.</para>
/// <list type="table">
/// <item><term>the target asks first</term><description> <see cref="TryRelease"/>: the grain is the target's. The source no longer reports
/// its own registration, so a slot that is rebuilt without the target waits for the target's lease.</description></item>
/// <item><term>the source has no answer first</term><description> <see cref="TryTakeBack"/>: the target is refused when it asks. Until then
/// it may have registered; the activation of the source replaces it, see <see cref="Next"/>.</description></item>
/// <item><term>the target asks again</term><description>Gets the same answer.</description></item>
/// <item><term>the target is dead in the view of the source</term><description>It is refused: a rebuilt slot may lack it.</description>
/// </item>
/// <item><term>the source is dead in the view of the target</term><description> It cannot register any more, so the target may begin
/// without an answer.</description></item>
/// </list>
/// <para>Any thread: the question comes on the control stage, the other methods are called on the turns of the activation that
/// leaves.</para>
/// </remarks>
/// <param name="leaving">The activation that leaves.</param>
/// <param name="target">The silo that gets the state.</param>
/// <param name="next">The id that the activation on the target will have.</param>
internal sealed class HandOver(Activation leaving, SiloAddress target, ActivationId next)
{
    private readonly Lock _gate = new();
    private Location _releasedTo;
    private bool _isTakenBack;

    /// <summary>The silo that gets the state.</summary>
    internal SiloAddress Target => target;

    /// <summary>The activation on the target. It may be registered although its silo has not said so.</summary>
    internal ActivationId Next => next;

    /// <summary>Where the grain is, once it is the target's; else none.</summary>
    internal Location ReleasedTo
    {
        get
        {
            lock (_gate)
                return _releasedTo;
        }
    }

    /// <summary>The target, which is registered, asks for the grain. False if it must not run a turn.</summary>
    /// <param name="registered">The location of the activation on the target.</param>
    /// <param name="isGone">Whether a silo is dead in the view in which this silo reports its registrations.</param>
    internal bool TryRelease(Location registered, Func<SiloAddress, bool> isGone)
    {
        lock (_gate)
        {
            if (_isTakenBack)
                return false;
            if (!_releasedTo.IsNone)
                return true;
            if (isGone(target))
                return false;
            // First the mark, then the view: a report that is collected in a view without the target does not contain this registration, or
            // the target is refused here.
            var wasRegistered = leaving.Registered;
            leaving.Registered = false;
            Interlocked.MemoryBarrier();
            if (isGone(target))
            {
                leaving.Registered = wasRegistered;
                return false;
            }

            _releasedTo = registered;
            return true;
        }
    }

    /// <summary>The source goes on with the state. False if the grain is the target's.</summary>
    internal bool TryTakeBack()
    {
        lock (_gate)
        {
            if (!_releasedTo.IsNone)
                return false;
            _isTakenBack = true;
            return true;
        }
    }
}
