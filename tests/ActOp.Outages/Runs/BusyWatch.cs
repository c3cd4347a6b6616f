using System.Globalization;
using ActOp.Harness.Load;
using ActOp.Outages.Cluster;

namespace ActOp.Outages.Runs;

/// <summary>
/// Notes when the machine is so busy with other things that processes progress slowly, though none stands still: their probes and leases
/// come late then, which no fault of the plan explains.
/// </summary>
/// <remarks>Owns a thread until disposed, which tells what it notes.</remarks>
internal sealed class BusyWatch : IDisposable
{
    /// <summary>Threads that run or wait to run, for each processor, on average. A run alone has fewer than half.</summary>
    private const double Most = 8;

    private const double Weight = 0.1;
    private static readonly TimeSpan Period = TimeSpan.FromMilliseconds(200);
    private readonly MonotonicClock _clock = new();
    private readonly Action<StillLine> _note;
    private readonly Thread _thread;
    private volatile bool _ended;

    /// <summary>Begins to watch.</summary>
    internal BusyWatch(Action<StillLine> note)
    {
        _note = note;
        _thread = new Thread(Watch) { IsBackground = true, Name = "busy watch" };
        _thread.Start();
    }

    /// <summary>The highest average so far, for each processor.</summary>
    internal double Highest { get; private set; }

    public void Dispose()
    {
        _ended = true;
        _thread.Join();
    }

    /// <summary>The number of threads that run or wait to run, from a line of /proc/loadavg.</summary>
    internal static int RunnableOf(string line) => int.Parse(line.Split(' ')[3].Split('/')[0], CultureInfo.InvariantCulture);

    private void Watch()
    {
        double average = 0;
        for (var last = _clock.Now; !_ended;)
        {
            _clock.WaitUntil(last + Period);
            var now = _clock.Now;
            var runnable = (double)RunnableOf(File.ReadAllText("/proc/loadavg")) / Environment.ProcessorCount;
            average += Weight * (runnable - average);
            Highest = Math.Max(Highest, average);
            if (average > Most)
                _note(new StillLine { Still = (now - last).Ticks, Until = now.Ticks });
            last = now;
        }
    }
}
