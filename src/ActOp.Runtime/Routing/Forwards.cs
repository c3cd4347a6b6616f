using ActOp.Calls;
using ActOp.Foundation;
using ActOp.Runtime.Activations;
using ActOp.Staging;
using Orleans.Runtime;

namespace ActOp.Runtime.Routing;

/// <summary>
/// How often a request is forwarded: the first forwards are free, further ones pause, and then the request fails.
/// </summary>
/// <remarks>Owns the requests that pause. Any thread that holds the request.</remarks>
/// <param name="time">Times the pauses.</param>
/// <param name="work">Continues after a pause, because the timer thread is shared by the process.</param>
/// <param name="abandoned">Drops requests that nobody waits for.</param>
/// <param name="configured">Forwards without a pause, those of caches not counted (<see cref="MaxConfigured"/> at most).</param>
internal sealed class Forwards(NodeTime time, Stage work, AbandonedRequests abandoned, int configured)
{
    /// <summary>
    /// The most that can be configured: with <see cref="Trusted"/> and <see cref="Paused"/>, the number of forwards fits the six bits that
    /// a frame has for it.
    /// </summary>
    internal const int MaxConfigured = 30;

    /// <summary>A call that was forwarded this often is routed by the directory only, not by caches.</summary>
    private const int Trusted = 2;

    /// <summary>Forwards with a pause before a call fails: half a second in total.</summary>
    private const int Paused = 25;

    private static readonly TimeSpan Pause = TimeSpan.FromMilliseconds(20);

    private readonly NodeTime _time = time;
    private readonly Stage _work = work;

    /// <summary>After this number of forwards, the call pauses before each further one.</summary>
    private readonly int _free = Trusted + configured;

    /// <summary>Whether caches may say where the request goes.</summary>
    internal static bool TrustsCaches(Call call) => call.Forwards < Trusted;

    /// <inheritdoc cref="AbandonedRequests.Drops"/>
    internal bool Drops(Call call) => abandoned.Drops(call);

    /// <summary>Counts a forward. Returns false if the call pauses first, or fails.</summary>
    internal bool TryCount(Call call, Router router)
    {
        if (++call.Forwards <= _free)
            return true;
        if (call.Forwards <= _free + Paused)
        {
            PausedCall.Begin(this, router, call);
        }
        else
        {
            Activation.Fail(call, new OrleansMessageRejectionException("The call " + call.Method.ActivityName + " to " + call.TargetId
                + " was forwarded " + call.Forwards + " times and reached no activation."));
        }

        return false;
    }

    /// <summary>A call that pauses between two forwards.</summary>
    private sealed class PausedCall : IStageItem
    {
        private readonly Forwards _forwards;
        private readonly Router _router;
        private readonly Call _call;
        private ITimer? _timer;

        private PausedCall(Forwards forwards, Router router, Call call) => (_forwards, _router, _call) = (forwards, router, call);

        internal static void Begin(Forwards forwards, Router router, Call call)
        {
            var paused = new PausedCall(forwards, router, call);
            paused._timer = forwards._time.CreateTimer(
                static state => ((PausedCall)state!).OnDue(), paused, Pause, Timeout.InfiniteTimeSpan);
        }

        public void Execute()
        {
            _timer?.Dispose();
            if (!_forwards.Drops(_call))
                _router.Ask(_call, _call.TargetId, counted: true);
        }

        private void OnDue() => _forwards._work.Post(this);
    }
}
