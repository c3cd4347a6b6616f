using ActOp.Configuration;
using ActOp.Simulation.Load;
using ActOp.Simulation.World;
using ActOp.Testing.Simulated;
using Microsoft.Extensions.DependencyInjection;
using Orleans.Core.Internal;
using Orleans.LeaseProviders;
using Orleans.Placement.Rebalancing;
using Orleans.Runtime.Development;
using Orleans.Versions.Compatibility;
using Orleans.Versions.Selector;

namespace ActOp.Simulation.Explore;

/// <summary>The scenarios. Hosts 1 to 3 have silos, host 101 a client.</summary>
internal static class Scenarios
{
    internal static readonly Scenario[] All =
    [
        new("birth", Birth, 4),
        new("move", Move, 6),
        new("hint", Hint, 5),
        new("rebirth", Rebirth, 5),
        new("exchange", Exchange, 14) { With = static settings => settings with { Locality = true } },
        new("rebalance", Rebalance, 10) { With = static settings => settings with { Rebalancing = TimeSpan.FromSeconds(1) } },
        new("start", Birth, 3) { CountsStart = true },
        new("join", Join, 8) { Silos = 2 },
        new("leave", Leave, 10) { HasFaults = true },
        new("crash", Crash, 10) { HasFaults = true },
        new("lease", Lease, 16) { HasFaults = true },
        new("observers", Observers, 5),
        new("workers", Workers, 4),
        new("cancel", Cancel, 5),
        new("enumerate", Enumerate, 5),
        new("states", States, 5) { Silo = static silo => silo.AddMemoryGrainStorage(Fixtures.Storage), SecondsAfterwards = 5 },
        new("streams", Streams, 8) { Silo = AddStreams, SecondsAfterwards = 20 },
        new("restream", Restream, 12) { Silos = 2, Silo = AddStreams, SecondsAfterwards = 20, HasFaults = true },
        new("channels", Channels, 4)
        {
            Silo = static silo => silo.AddBroadcastChannel(Fixtures.Channels, static options => options.FireAndForgetDelivery = false),
        },
        new("reminders", Reminders, 9) { Silo = AddReminders, SecondsAfterwards = 20 },
        new("remind", Remind, 12) { Silo = AddReminders, SecondsAfterwards = 20, HasFaults = true },
        new("manage", Manage, 5)
        {
            Silo = static silo => silo.Services.Configure<ClientRightsOptions>(static options => options.Management = true),
            With = static settings => settings with { Rebalancing = TimeSpan.FromSeconds(60), Locality = true },
        },
    ];

    /// <summary>Two silos ask for a grain at once, wherever its slot is.</summary>
    private static void Birth(Script script)
    {
        for (var owner = 1; owner <= 3; owner++)
        {
            var counter = script.CounterAt(owner);
            var first = owner * 0.3;
            script.Call(first, 1, CallKind.Add, counter);
            script.Call(first, 2, CallKind.Add, counter);
            script.Call(first + 0.001, 101, CallKind.Add, counter);
            script.CallFromAll(first + 0.2, counter);
            script.CallFromAll(2.5, counter);
        }
    }

    /// <summary>A grain moves from host 1 to 2, and back, while all call it.</summary>
    private static void Move(Script script)
    {
        for (var owner = 1; owner <= 3; owner++)
        {
            var counter = script.CounterAt(owner);
            var first = owner * 0.5;
            script.Call(first, 1, CallKind.Add, counter);
            script.Move(first + 0.1, 3, counter, 2);
            script.CallFromAll(first + 0.1005, counter);
            script.CallFromAll(first + 0.2, counter);
            script.Send(first + 1.5, 2, counter, 1, live: true);
            script.CallFromAll(first + 1.501, counter);
            script.CallFromAll(4.5, counter);
        }

        // One with a timer.
        script.Call(0.4, 1, CallKind.Add, 3);
        script.Move(0.8, 1, 3, 2);
        script.CallFromAll(4.5, 3);
    }

    /// <summary>A grain that has nothing to lose ends, and begins on the silo that the runtime has chosen.</summary>
    private static void Hint(Script script)
    {
        script.LetDesksForget();
        for (var owner = 1; owner <= 3; owner++)
        {
            var counter = script.DeskAt(owner);
            var first = owner * 0.5;
            script.Call(first, 1, CallKind.Add, counter);
            script.Send(first + 0.1, 1, counter, 2, live: false);
            script.CallFromAll(first + 0.101, counter);
            script.CallFromAll(first + 0.3, counter);
            script.CallFromAll(3.5, counter);
        }
    }

    /// <summary>A grain ends and begins elsewhere; another one moves when it is asked to end.</summary>
    private static void Rebirth(Script script)
    {
        for (var owner = 1; owner <= 3; owner++)
        {
            foreach (var counter in new[] { script.CounterAt(owner), 1 + (4 * owner) })
            {
                var first = owner * 0.5;
                script.Call(first, 1, CallKind.Add, counter);
                script.Call(first + 0.1, 3, CallKind.Leave, counter);
                script.Call(first + 0.1003, 2, CallKind.Add, counter);
                script.Call(first + 0.1004, 101, CallKind.Add, counter);
                script.CallFromAll(first + 0.3, counter);
                script.CallFromAll(3.5, counter);
            }
        }
    }

    /// <summary>Grains on different silos call each other, and locality brings them together.</summary>
    private static void Exchange(Script script)
    {
        for (var counter = 2L; counter < 8; counter++)
        {
            script.Call(0.1, 1 + (int)(counter % 3), CallKind.Add, counter);
            for (var time = 0.5; time < 8; time += 0.1)
            {
                if (counter % 2 == 0)
                    script.Pair(time, 1 + (int)(counter % 3), counter, counter + 1);
            }

            script.CallFromAll(13, counter);
        }
    }

    /// <summary>All grains are on one silo.</summary>
    private static void Rebalance(Script script)
    {
        for (var counter = 1L; counter <= 12; counter++)
        {
            script.Call(0.1, 3, CallKind.Add, counter);
            script.Call(2 + (counter * 0.2), 101, CallKind.Add, counter);
            script.Call(9, 2, CallKind.Add, counter);
        }

        foreach (var host in new[] { 2, 3 })
        {
            script.Ask(3 + host, host, "suspend", static machine =>
                machine.Service<IActivationRebalancer>().SuspendRebalancing(TimeSpan.FromSeconds(1)));
            script.Ask(3.5 + host, host, "resume", static machine => machine.Service<IActivationRebalancer>().ResumeRebalancing());
            script.Ask(3.7 + host, host, "report", static machine =>
                machine.Service<IActivationRebalancer>().GetRebalancingReport(force: true).AsTask());
        }
    }

    /// <summary>A silo joins, and gets its slots.</summary>
    private static void Join(Script script)
    {
        Inhabit(script, 0.2);
        script.Boot(0.6, 3);
        Busy(script, 0.7, 4, every: 0.3);
        Busy(script, 7);
    }

    /// <summary>A silo ends in order: its grains move and its slots are handed over.</summary>
    private static void Leave(Script script)
    {
        Inhabit(script, 0.2);
        script.Restart(0.6, 2, 6);
        Busy(script, 0.6, 3, every: 0.3);
        Busy(script, 9);
    }

    /// <summary>A silo crashes, and its slots are rebuilt.</summary>
    private static void Crash(Script script)
    {
        Inhabit(script, 0.2);
        script.Crash(0.6, 2, 6);
        Busy(script, 0.7, 5, every: 0.4);
        Busy(script, 9);
    }

    /// <summary>A silo is cut off for longer than its lease.</summary>
    private static void Lease(Script script)
    {
        Inhabit(script, 0.2);
        script.Isolate(0.6, 2, 13);
        Busy(script, 0.7, 15, every: 1);
    }

    /// <summary>An observer of a client is told, by grains that move.</summary>
    private static void Observers(Script script)
    {
        foreach (var host in new[] { 101, 1 })
        {
            for (var owner = 2; owner <= 3; owner++)
            {
                var counter = script.CounterAt(owner);
                script.Call(0.1, 2, CallKind.Add, counter);
                script.Call(0.3, host, CallKind.Watch, counter);
                script.CallFromAll(0.6, counter);
                script.CallFromAll(1.5, counter);
                script.Call(2.5, host, CallKind.Unwatch, counter);
                script.CallFromAll(3.5, counter);
            }
        }

        script.Call(1.2, 3, CallKind.Move, script.CounterAt(2));
    }

    /// <summary>Grains without a place of their own, games that call players, and grains that must not move.</summary>
    private static void Workers(Script script)
    {
        foreach (var host in new[] { 1, 2, 3, 101 })
        {
            for (var time = 0.1; time < 1; time += 0.2)
                script.Call(time, host, CallKind.Echo, 1);
            script.Call(0.2 + (host * 0.001), host, CallKind.Seat, 1);
            script.Call(0.5, host, CallKind.Play, 1);
            script.Call(0.6, host, CallKind.Desk, 1);
            script.Call(0.7, host, CallKind.Drop, 2);
            script.Call(0.8, host, CallKind.Relay, 2);
            script.Call(2, host, CallKind.Play, 1);
        }
    }

    /// <summary>Calls are cancelled, by tokens of both kinds.</summary>
    private static void Cancel(Script script)
    {
        foreach (var (host, sleeper) in new[] { (1, 1), (101, 1), (2, 2), (101, 3) })
        {
            script.Ask(0.1 * sleeper, sleeper, "Sleep", machine => machine.Grains.GetGrain<ISleeper>(sleeper).Sleep(1, default));
            script.Ask(0.7, host, "Sleep", machine => SleepAsync(machine, sleeper + 1));
            script.Ask(1.5, host, "SleepWith", machine => SleepWithAsync(machine, sleeper + 1));
        }

        static async Task SleepAsync(Machine machine, long sleeper)
        {
            using var source = new CancellationTokenSource();
            var call = machine.Grains.GetGrain<ISleeper>(sleeper).Sleep(1500, source.Token);
            await Task.Delay(TimeSpan.FromMilliseconds(200), machine.AppClock);
            source.Cancel();
            try
            {
                await call;
            }
            catch (OperationCanceledException)
            {
                // The caller does not wait for the callee.
            }
        }

        static async Task SleepWithAsync(Machine machine, long sleeper)
        {
            using var source = new GrainCancellationTokenSource();
            var call = machine.Grains.GetGrain<ISleeper>(sleeper).SleepWith(1500, source.Token);
            await Task.Delay(TimeSpan.FromMilliseconds(200), machine.AppClock);
            await source.Cancel();
            await call;
        }
    }

    /// <summary>Enumerations that are read to their end, and one that is not.</summary>
    private static void Enumerate(Script script)
    {
        foreach (var host in new[] { 1, 101 })
        {
            script.Ask(0.1, 2, "Sleep", static machine => machine.Grains.GetGrain<ISleeper>(1).Sleep(1, default));
            script.Ask(0.5, host, "Numbers", machine => ReadAsync(machine, 5, 5));
            script.Ask(1.5, host, "Numbers", machine => ReadAsync(machine, 50, 3));
            script.Ask(2.5, host, "Numbers", machine => ReadAsync(machine, 5, 5));
        }

        static async Task ReadAsync(Machine machine, int count, int most)
        {
            var next = 0;
            await foreach (var number in machine.Grains.GetGrain<ISleeper>(1).Numbers(count, 50).WithBatchSize(1))
            {
                if (number != next++)
                    throw new InvalidOperationException("An enumeration gave " + number + " instead of " + (next - 1) + ".");
                if (next == most)
                    break;
            }
        }
    }

    /// <summary>States in the memory of the cluster.</summary>
    private static void States(Script script)
    {
        for (var vault = 1; vault <= 3; vault++)
        {
            var number = vault;
            for (var id = 0; id < 4; id++)
                Ask(0.1 + (id * 0.2), grain => grain.Put(id), "Put");
            Ask(1, static grain => grain.Leave(), "Leave");
            script.Ask(1.05, 1 + (vault % 3), "Get", machine => machine.Grains.GetGrain<IVault>(number).Get());
            Ask(1.2, static grain => grain.Get(), "Get");
            Ask(1.5, static grain => grain.Clear(), "Clear");
            Ask(2, static grain => grain.Put(9), "Put");
            Ask(2.5, static grain => grain.Leave(), "Leave");
            Ask(3.5, static grain => grain.Put(10), "Put");

            void Ask(double time, Func<IVault, Task> call, string name)
            {
                script.Ask(time, number, name, machine => call(machine.Grains.GetGrain<IVault>(number)));
            }
        }
    }

    private static void AddStreams(ISiloBuilder silo) => silo.AddMemoryGrainStorage("PubSubStore")
        .AddMemoryStreams(Fixtures.Streams, static streams => streams.ConfigurePartitioning(4));

    /// <summary>Subscriptions come and go while ids are published.</summary>
    private static void Streams(Script script)
    {
        for (var number = 0; number < 2; number++)
        {
            var (stream, subscriber) = (Fixtures.StreamNames[number], number + 1);
            script.Ask(0.2, 1 + number, "Subscribe", machine => machine.Grains.GetGrain<ISubscriber>(subscriber).Subscribe(stream));
            script.Ask(0.4, 2, "Publish", machine => machine.Grains.GetGrain<IPublisher>(1).Publish(stream, 0, 1));
            script.Ask(0.8, 2 + number, "Subscribe", machine => machine.Grains.GetGrain<ISubscriber>(subscriber + 10).Subscribe(stream));
            script.Ask(1.5, 2, "Publish", machine => machine.Grains.GetGrain<IPublisher>(1).Publish(stream, 1, 5));
            script.Ask(2.5, 3, "Move", machine => machine.Grains.GetGrain<ISubscriber>(subscriber).Move());
            script.Ask(3, 1, "Publish", machine => machine.Grains.GetGrain<IPublisher>(1).Publish(stream, 10, 5));
            script.Ask(4, 3, "Unsubscribe", machine => machine.Grains.GetGrain<ISubscriber>(subscriber + 10).Unsubscribe(stream));
            script.Ask(5, 1, "Publish", machine => machine.Grains.GetGrain<IPublisher>(1).Publish(stream, 20, 5));
        }
    }

    /// <summary>
    /// The same while a silo joins, and another one ends in order and comes back: queues, agents and subscriptions go elsewhere.
    /// </summary>
    private static void Restream(Script script)
    {
        Streams(script);
        script.Boot(1, 3);
        script.Restart(5, 2, 8);
        script.Ask(11, 1, "Publish", static machine => machine.Grains.GetGrain<IPublisher>(1).Publish(Fixtures.StreamNames[0], 30, 5));
    }

    /// <summary>An id goes to all that listen to a channel.</summary>
    private static void Channels(Script script)
    {
        for (var id = 0; id < 3; id++)
        {
            script.Ask(0.2 + id, 1 + id, "Broadcast", machine => machine.Grains.GetGrain<IPublisher>(machine.Host).Broadcast("waves", id));
        }
    }

    private static void AddReminders(ISiloBuilder silo)
    {
        silo.UseInMemoryReminderService();
        silo.Services.Configure<ReminderOptions>(static options => options.MinimumReminderPeriod = TimeSpan.FromSeconds(1));
    }

    /// <summary>Reminders are registered, replaced and ended.</summary>
    private static void Reminders(Script script)
    {
        for (var alarm = 1; alarm <= 3; alarm++)
        {
            Ask(0.3, static grain => grain.Set("a"), "Set");
            Ask(0.5, static grain => grain.Set("b"), "Set");
            Ask(1.5, static grain => grain.Set("a"), "Set");
            Ask(3.5, static grain => grain.Stop("b"), "Stop");
            Ask(4, static grain => grain.List(), "List");

            void Ask(double time, Func<IAlarm, Task> call, string name)
            {
                var number = alarm;
                script.Ask(time + (alarm * 0.02), alarm, name, machine => call(machine.Grains.GetGrain<IAlarm>(number)));
            }
        }
    }

    /// <summary>The same while a silo ends in order and comes back: its reminders go elsewhere and return.</summary>
    private static void Remind(Script script)
    {
        Reminders(script);
        script.Restart(2, 2, 7);
    }

    /// <summary>What operators ask a cluster.</summary>
    private static void Manage(Script script)
    {
        var counter = script.CounterAt(2);
        script.Call(0.1, 2, CallKind.Add, counter);
        Ask(0.3, 101, "hosts", static grain => grain.GetHosts());
        Ask(0.4, 101, "statistics", static grain => grain.GetRuntimeStatistics([]));
        Ask(0.5, 101, "simple", static grain => grain.GetSimpleGrainStatistics());
        Ask(0.6, 101, "detailed", static grain => grain.GetDetailedGrainStatistics());
        Ask(0.7, 101, "total", static grain => grain.GetTotalActivationCount());
        Ask(0.8, 101, "collect", static grain => grain.ForceActivationCollection(TimeSpan.FromHours(1)));
        Ask(0.9, 101, "garbage", static grain => grain.ForceRuntimeStatisticsCollection([]));
        Ask(1, 101, "details", static grain => grain.GetDetailedHosts());
        Ask(1.05, 101, "compatibility", static grain => grain.SetCompatibilityStrategy(BackwardCompatible.Singleton));
        Ask(1.07, 101, "selector", static grain => grain.SetSelectorStrategy(AllCompatibleVersions.Singleton));
        script.Ask(1.1, 101, "count", machine => machine.Grains.GetGrain<IManagementGrain>(0).GetGrainActivationCount(
            (GrainReference)machine.Grains.GetGrain<ICounter>(counter)));
        script.Ask(1.2, 101, "address", machine =>
            machine.Grains.GetGrain<IManagementGrain>(0).GetActivationAddress(machine.Grains.GetGrain<ICounter>(counter)).AsTask());
        script.Ask(1.3, 101, "active", machine => machine.Grains.GetGrain<IManagementGrain>(0).GetActiveGrains(
            machine.Grains.GetGrain<ICounter>(counter).GetGrainId().Type).AsTask());
        script.Ask(1.4, 3, "move", machine =>
            machine.Grains.GetGrain<ICounter>(counter).AsReference<IGrainManagementExtension>().MigrateOnIdle().AsTask());
        script.CallFromAll(1.401, counter);
        script.Ask(2, 3, "leave", machine =>
            machine.Grains.GetGrain<ICounter>(counter).AsReference<IGrainManagementExtension>().DeactivateOnIdle().AsTask());
        script.CallFromAll(2.001, counter);
        script.Ask(2.3, 101, "deactivate", machine => machine.Grains.GetGrain<IManagementGrain>(0).DeactivateGrain(
            machine.Grains.GetGrain<ICounter>(counter).GetGrainId()));
        script.CallFromAll(2.301, counter);
        script.Ask(2.5, 1, "lease", LeaseAsync);
        script.Ask(2.5, 2, "lease", LeaseAsync);

        void Ask(double time, int host, string name, Func<IManagementGrain, Task> call) =>
            script.Ask(time, host, name, machine => call(machine.Grains.GetGrain<IManagementGrain>(0)));

        static async Task LeaseAsync(Machine machine)
        {
            var leases = new InMemoryLeaseProvider(machine.Grains);
            var request = new LeaseRequest("resource " + machine.Host, TimeSpan.FromSeconds(10));
            if ((await leases.Acquire("simulation", [request]))[0].AcquiredLease is not { } lease)
                return;
            await leases.Renew("simulation", [lease]);
            await leases.Release("simulation", [lease]);
        }
    }

    /// <summary>Grains on each silo, in slots of each silo that is there.</summary>
    private static void Inhabit(Script script, double time)
    {
        for (var counter = 1L; counter <= 9; counter++)
            script.Call(time, 1 + (int)(counter % 3), CallKind.Add, counter);
        script.Call(time + 0.1, 1, CallKind.Add, 3);
    }

    private static void Busy(Script script, double from, double until, double every)
    {
        for (var time = from; time < until; time += every)
            Busy(script, time);
    }

    private static void Busy(Script script, double time)
    {
        for (var counter = 1L; counter <= 9; counter++)
        {
            script.Call(time, 1 + (int)((counter + (long)(time * 10)) % 3), CallKind.Add, counter);
            script.Call(time + 0.05, 101, CallKind.Add, counter);
        }
    }
}
