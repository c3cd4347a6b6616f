using ActOp.Runtime.Cluster;
using ActOp.Runtime.Directory;
using Orleans.Runtime;

namespace ActOp.Cluster.Tests.Simulation;

/// <summary>Silos, their network and their table in one thread and virtual time: a run is a function of its seed.</summary>
internal sealed class SimulatedCluster
{
    private readonly PriorityQueue<Action, (long At, long Number)> _events = new();
    private readonly HashSet<(int, int)> _cut = [];
    private long _number;

    public SimulatedCluster(int seed, MembershipOptions? options = null, DirectoryLimits? limits = null)
    {
        Random = new Random(seed);
        Options = options ?? new MembershipOptions { LeaseDuration = 10_000, TableRefreshPeriod = 1_500 };
        Limits = limits ?? new DirectoryLimits { SilentLease = Options.LeaseDuration };
    }

    public Random Random { get; }

    public MembershipOptions Options { get; }

    public DirectoryLimits Limits { get; }

    public InMemoryMembershipTable Table { get; } = new();

    public List<SimulatedSilo> Silos { get; } = [];

    public Faults Faults { get; set; } = new();

    public long Now { get; private set; } = 1_000;

    public TableSnapshot TableNow => Table.Apply(new TableRequest(0, TableOperation.Read)).Snapshot;

    public IEnumerable<SimulatedSilo> Running => Silos.Where(silo => silo.IsUp && !silo.Protocol.IsStopped);

    /// <summary>Starts silos and lets them become active.</summary>
    public SimulatedCluster With(int silos)
    {
        for (var i = 0; i < silos; i++)
        {
            Start(i);
        }

        Run(3_000);
        return this;
    }

    public SimulatedSilo Start(int port, Action<SimulatedSilo>? configure = null)
    {
        var generation = 1 + Silos.Count(silo => silo.Port == port);
        var silo = new SimulatedSilo(this, port, generation);
        Silos.Add(silo);
        configure?.Invoke(silo);
        silo.Start();
        return silo;
    }

    public void After(long delay, Action action) => _events.Enqueue(action, (Now + Math.Max(0, delay), _number++));

    public void Run(long duration)
    {
        var end = Now + duration;
        while (_events.TryPeek(out _, out var key) && key.At <= end)
        {
            var action = _events.Dequeue();
            Now = key.At;
            action();
        }

        Now = end;
    }

    /// <summary>Runs in steps and checks after each.</summary>
    public void Run(long duration, Action check)
    {
        for (var end = Now + duration; Now < end;)
        {
            Run(40);
            check();
        }
    }

    public bool RunUntil(long limit, Func<bool> condition)
    {
        for (var end = Now + limit; Now < end;)
        {
            if (condition())
            {
                return true;
            }

            Run(10);
        }

        return condition();
    }

    public void Cut(SimulatedSilo one, SimulatedSilo other)
    {
        _cut.Add((one.Port, other.Port));
        _cut.Add((other.Port, one.Port));
    }

    public void CutOneWay(SimulatedSilo from, SimulatedSilo to) => _cut.Add((from.Port, to.Port));

    public void Isolate(SimulatedSilo silo)
    {
        silo.ReachesTable = false;
        foreach (var other in Silos.Where(other => other.Port != silo.Port))
        {
            Cut(silo, other);
        }
    }

    public void Heal()
    {
        _cut.Clear();
        Silos.ForEach(silo => silo.ReachesTable = true);
        Faults = new Faults();
    }

    public void Send(SimulatedSilo from, SiloAddress to, Action<SimulatedSilo> deliver, Action? refused = null)
    {
        var target = Silos.Find(silo => silo.Address.Equals(to));
        if (target is null || _cut.Contains((from.Port, target.Port)) || Random.NextDouble() < Faults.Loss)
        {
            return;
        }

        if ((from.RefusedBy ?? target.RefusedBy) is { } reason)
        {
            from.Refused(to, reason);
            return;
        }

        var copies = Random.NextDouble() < Faults.Duplication ? 2 : 1;
        for (var i = 0; i < copies; i++)
        {
            After(Random.Next(1, Faults.MaxDelay + 1), () =>
            {
                if (target.IsUp)
                {
                    deliver(target);
                }
                else if (!target.IsHostLost && refused is not null)
                {
                    After(1, refused);
                }
            });
        }
    }

    /// <summary>The silos of one view, when all running silos are in the table's view.</summary>
    public bool IsSettled() =>
        Running.All(silo => silo.Protocol.View.Number == TableNow.View)
        && TableNow.Rows.Count(row => row.Status == SiloStatus.Active) == Running.Count(
            silo => silo.Protocol.View.StatusOf(silo.Address) == SiloStatus.Active);

    public bool AllSlotsServed() =>
        Running.Where(silo => silo.Protocol.View.StatusOf(silo.Address) == SiloStatus.Active)
            .Sum(silo => Enumerable.Range(0,
                SlotMap.SlotCount).Count(slot => silo.Directory.StateOf(slot) == SlotState.Ready)) == SlotMap.SlotCount;
}
