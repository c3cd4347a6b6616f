using System.Collections.Concurrent;

namespace ActOp.Harness.Load;

/// <summary>
/// Notes for how long this process, or the whole machine, stood still: requests are sent and answered later by that, and news arrives
/// later.
/// </summary>
/// <remarks>Owns a thread until disposed. Any thread asks.</remarks>
public sealed class Standstills : IDisposable
{
    private static readonly TimeSpan Period = TimeSpan.FromMilliseconds(20);
    private static readonly TimeSpan Shortest = TimeSpan.FromMilliseconds(100);

    private readonly IClock _clock;
    private readonly Action<TimeSpan, TimeSpan>? _still;
    private readonly ConcurrentQueue<(TimeSpan To, TimeSpan Length)> _noted = new();
    private readonly Thread _thread;
    private volatile bool _ended;

    /// <summary>Begins to watch; <paramref name="still"/> is told the end and the length of each, on the thread of this object.</summary>
    public Standstills(IClock clock, Action<TimeSpan, TimeSpan>? still = null)
    {
        _clock = clock;
        _still = still;
        _thread = new Thread(Watch) { IsBackground = true, Name = "standstills" };
        _thread.Start();
    }

    /// <summary>How long it stood still since then, in all.</summary>
    public TimeSpan Since(TimeSpan began) => _noted.Where(one => one.To > began)
        .Aggregate(TimeSpan.Zero, (sum, one) => sum + (one.To - began < one.Length ? one.To - began : one.Length));

    /// <inheritdoc/>
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
            {
                _noted.Enqueue((now, now - last));
                _still?.Invoke(now, now - last);
            }

            last = now;
        }
    }
}
