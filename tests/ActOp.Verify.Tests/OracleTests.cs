using ActOp.Planted;
using ActOp.Testing.Simulated;
using Microsoft.Extensions.Logging;

namespace ActOp.Verify.Tests;

/// <summary>A model with a method that the grain has not.</summary>
public sealed class WrongModel
{
    public int GetNothing() => 0;
}

/// <summary>A grain that logs.</summary>
public interface ITalker : IGrainWithStringKey
{
    Task Talk(int number);
}

public sealed class Talker(ILoggerFactory logs) : Grain, ITalker
{
    public Task Talk(int number)
    {
        logs.CreateLogger("Shop").LogInformation("Order {Number} is there.", number);
        return Task.CompletedTask;
    }
}

/// <summary>Barriers, ledgers, histories, drawings: what a test of an application can use beside its checks.</summary>
public sealed class OracleTests
{
    [Fact]
    public async Task Code_waits_at_a_barrier_until_it_is_released()
    {
        await Simulation.Explore(5, static async world =>
        {
            await world.Start();
            var counter = world.Grains.GetGrain<ICounter>("one");
            var before = world.Barrier("counter/one.Set(1)");
            var set = counter.Set(1);
            await before.Reached;
            world.Check(!set.IsCompleted && before.Waiting == 1, "The call did not wait.");
            before.Release();
            await set;
            var after = world.Barrier("has done counter/one.Set");
            set = counter.Set(2);
            await after.Reached;
            world.Check(!set.IsCompleted, "The answer did not wait.");
            after.Release();
            await set;
            world.Check(await counter.Get() == 2, "The value is another one.");
        });
    }

    [Fact]
    public async Task A_storage_gets_a_write_when_its_barrier_is_released_and_settling_releases_all()
    {
        await Simulation.Explore(5, static async world =>
        {
            world.Silos.Configure(static silo => silo.AddMemoryGrainStorage("cells"));
            await world.Start();
            var cell = world.Grains.GetGrain<IDoubtfulCell>("one");
            var barrier = world.Barrier("writes");
            var set = cell.Set(3);
            await barrier.Reached;
            world.Check(!set.IsCompleted, "The write did not wait.");
            await world.Settle();
            await set;
            world.Check(await cell.Get() == 3, "The value is another one.");
        });
    }

    [Fact]
    public async Task A_point_of_the_test_waits_at_its_barrier()
    {
        await Simulation.Explore(2, static async world =>
        {
            await world.Start();
            await world.Reach("nobody waits here");
            var barrier = world.Barrier("the middle");
            var passed = world.Reach("the middle of it");
            world.Check(!passed.IsCompleted, "It did not wait.");
            barrier.Release();
            await passed;
        });
    }

    [Theory]
    [InlineData(true, true, 0, "Of payments are acknowledged and not there: 7.")]
    [InlineData(true, false, 2, "Of payments are there more than once: 7.")]
    [InlineData(false, false, 1, "Of payments are there and never asked for: 7.")]
    [InlineData(true, false, 0, null)]
    [InlineData(true, true, 1, null)]
    public async Task A_ledger_finds_what_is_lost_twice_or_unasked(bool isAsked, bool isAcknowledged, int times, string? failure)
    {
        Task TestAsync(SimulationWorld world)
        {
            var ledger = world.Ledger("payments");
            if (isAsked)
                ledger.Ask(7);
            if (isAcknowledged)
                ledger.Acknowledge(7);
            ledger.Note(7, times);
            ledger.Check();
            return Task.CompletedTask;
        }

        if (failure is null)
            await Simulation.Explore(1, TestAsync);
        else
            Assert.Equal(failure, (await Assert.ThrowsAsync<SimulationException>(() => Simulation.Explore(1, TestAsync))).Failure);
    }

    [Fact]
    public async Task A_grain_is_active_on_one_silo_after_all_has_settled()
    {
        var report = await Simulation.Explore(10, static async world =>
        {
            world.RandomFaults(crash: true, partitions: true, moves: true);
            await world.Start();
            var counter = world.Grains.GetGrain<ICounter>("one");
            world.Check(world.SilosOf(counter).Count == 0, "It is active before its first call.");
            for (var call = 0; call < 20; call++)
            {
                await PlantedFault.RetryAsync(world, () => counter.Get());
                world.Sometimes(world.SilosOf(counter) is ["silo1.2" or "silo1.3" or "silo1.4"], "on the first silo");
            }

            await world.Settle();
            await counter.Get();
            var silos = world.SilosOf(counter);
            world.Check(silos.Count == 1, "It is active on " + string.Join(", ", silos) + ".");
        });
        Assert.True(report.Situations["on the first silo"] > 0);
        Assert.NotEqual(0UL, report.Hash);
    }

    [Fact]
    public async Task A_call_that_fails_is_not_acknowledged()
    {
        await Simulation.Explore(1, static async world =>
        {
            var ledger = world.Ledger("payments");
            try
            {
                await ledger.Call("one", static () => throw new InvalidOperationException("No."));
            }
            catch (InvalidOperationException)
            {
                ledger.Check();
                return;
            }

            world.Check(false, "The exception was kept.");
        });
    }

    [Fact]
    public async Task A_model_with_a_method_that_the_grain_has_not_is_refused()
    {
        var found = await Assert.ThrowsAsync<SimulationException>(() => Simulation.Explore(1, static async world =>
        {
            await world.Start();
            await world.CheckCommands<ICounter, WrongModel>(world.Grains.GetGrain<ICounter>("one"), 3);
        }));
        Assert.Contains("GetNothing() is no method of ICounter", found.Failure, StringComparison.Ordinal);
    }

    [Fact]
    public async Task What_an_application_logs_is_in_the_story_with_its_step()
    {
        var found = await Assert.ThrowsAsync<SimulationException>(() => Simulation.Explore(1, static async world =>
        {
            await world.Start();
            await world.Grains.GetGrain<ITalker>("one").Talk(5);
            world.Check(false, "This is the end.");
        }));
        Assert.Matches(@"step +\d+ .* silo\d\.\d logs \(Information\) Order 5 is there\.", found.Message);
    }

    [Fact]
    public async Task A_failure_is_drawn_with_who_has_called_whom()
    {
        var folder = Directory.CreateTempSubdirectory("actop-diagram-");
        try
        {
            var found = await Assert.ThrowsAsync<SimulationException>(() => Simulation.Explore(
                1, FailAsync, new SimulationBudget { DiagramDirectory = folder.FullName }));
            Assert.Matches(@"p0->>p1: \d+: Get\(\)", found.Diagram);
            Assert.Contains("participant p1 as counter/<one>", found.Diagram, StringComparison.Ordinal);
            Assert.Equal(found.Diagram, await File.ReadAllTextAsync(
                Path.Combine(folder.FullName, "seed-1.mmd"), TestContext.Current.CancellationToken));
            var svg = System.Xml.Linq.XDocument.Load(Path.Combine(folder.FullName, "seed-1.svg"));
            Assert.Contains(svg.Descendants(), static one => one.Value == "counter/<one>");
            Assert.Contains("Drawn: " + Path.Combine(folder.FullName, "seed-1.svg"), found.Message, StringComparison.Ordinal);
        }
        finally
        {
            folder.Delete(recursive: true);
        }
    }

    [Fact]
    public async Task A_folder_that_cannot_be_written_does_not_hide_the_failure()
    {
        var file = Path.GetTempFileName();
        try
        {
            var found = await Assert.ThrowsAsync<SimulationException>(() => Simulation.Explore(
                1, FailAsync, new SimulationBudget { DiagramDirectory = Path.Combine(file, "below") }));
            Assert.Equal("This is the end.", found.Failure);
            Assert.Contains("Drawn: not: ", found.Message, StringComparison.Ordinal);
        }
        finally
        {
            File.Delete(file);
        }
    }

    [Fact]
    public async Task A_replay_stops_at_the_step_of_the_environment()
    {
        Environment.SetEnvironmentVariable(SimulatedRun.BreakVariable, "20");
        try
        {
            var found = await Assert.ThrowsAsync<SimulationException>(() => Simulation.Replay(1, null, FailAsync));
            Assert.Matches(@"step +20 .* is at the step of ACTOP_BREAK_AT, but no debugger is attached", found.Message);
            Environment.SetEnvironmentVariable(SimulatedRun.BreakVariable, "soon");
            var wrong = await Assert.ThrowsAsync<FormatException>(() => Simulation.Replay(1, null, FailAsync));
            Assert.Contains("ACTOP_BREAK_AT is \"soon\"", wrong.Message, StringComparison.Ordinal);
        }
        finally
        {
            Environment.SetEnvironmentVariable(SimulatedRun.BreakVariable, null);
        }
    }

    private static async Task FailAsync(SimulationWorld world)
    {
        await world.Start();
        await world.Grains.GetGrain<ICounter>("<one>").Get();
        world.Check(false, "This is the end.");
    }
}
