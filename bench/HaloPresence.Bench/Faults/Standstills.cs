using System.Collections.Concurrent;
using ActOp.Harness.Load;

namespace HaloPresence.Bench.Faults;

/// <summary>
/// Notes for how long this process, or the whole machine, stood still: requests are sent and answered later by that, and news arrives
/// later.
/// </summary>
/// <remarks>Owns a thread until disposed. Any thread asks.</remarks>
internal sealed class Standstills : IDisposable
{
    private static readonly TimeSpan Period = TimeSpan.FromMilliseconds(20);
    private static readonly TimeSpan Shortest = TimeSpan.FromMilliseconds(100);

    private readonly IClock _clock;
    private readonly ConcurrentQueue<(TimeSpan To, TimeSpan Length)> _noted = new();
    private readonly Thread _thread;
    private volatile bool _ended;

    internal Standstills(IClock clock)
    {
        _clock = clock;
        _thread = new Thread(Watch) { IsBackground = true, Name = "standstills" };
        _thread.Start();
    }

    /// <summary>How long it stood still since then, in all.</summary>
    internal TimeSpan Since(TimeSpan began) => _noted.Where(one => one.To > began)
        .Aggregate(TimeSpan.Zero, (sum, one) => sum + (one.To - began < one.Length ? one.To - began : one.Length));

    public void Dispose()
    {
        _ended = true;
        _thread.Join();
    }

    private void Watch()
    {
        for (var last = _clock.Now; !_ended;)
        {
            _clock.WaitUntil(last + Period);
            var now = _clock.Now;
            if (now - last > Shortest)
                _noted.Enqueue((now, now - last));
            last = now;
        }
    }
}
