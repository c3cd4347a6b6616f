using Orleans.Providers;

namespace ActOp.Verify.Tests;

/// <summary>Keeps when it was asked.</summary>
public interface IDiary : IGrainWithStringKey
{
    Task Write();
}

/// <summary>Takes the time from the machine.</summary>
public interface ITornDiary : IDiary;

/// <summary>Takes the time from its services.</summary>
public interface IKeptDiary : IDiary;

[GenerateSerializer]
public sealed class DiaryState
{
    [Id(0)]
    public long WrittenAt { get; set; }
}

[StorageProvider(ProviderName = "diaries")]
public sealed class TornDiary : Grain<DiaryState>, ITornDiary
{
    public Task Write()
    {
        State.WrittenAt = DateTime.UtcNow.Ticks;
        return WriteStateAsync();
    }
}

[StorageProvider(ProviderName = "diaries")]
public sealed class KeptDiary(TimeProvider time) : Grain<DiaryState>, IKeptDiary
{
    public Task Write()
    {
        State.WrittenAt = time.GetUtcNow().Ticks;
        return WriteStateAsync();
    }
}

/// <summary>What a run takes from elsewhere than the simulation makes two runs of a seed differ.</summary>
public sealed class DivergenceTests
{
    private static readonly SimulationBudget Budget = new() { CompareEvery = 2 };

    [Fact]
    public async Task The_first_step_at_which_two_runs_of_a_seed_differ_is_shown()
    {
        var found = await Assert.ThrowsAsync<SimulationException>(() => Simulation.Explore(2, WriteAsync<ITornDiary>, Budget));
        TestContext.Current.TestOutputHelper?.WriteLine(found.Message);
        Assert.Contains("different histories", found.Failure, StringComparison.Ordinal);
        Assert.Contains("both runs: ", found.Message, StringComparison.Ordinal);
        Assert.Contains("writes the bytes", found.Message.Split("first run:")[1], StringComparison.Ordinal);
        Assert.Contains("DateTime.UtcNow", found.Message, StringComparison.Ordinal);
    }

    [Fact]
    public async Task A_grain_with_the_time_of_its_services_has_one_history_for_each_seed() =>
        await Simulation.Explore(4, WriteAsync<IKeptDiary>, Budget);

    private static async Task WriteAsync<TDiary>(SimulationWorld world)
        where TDiary : IDiary
    {
        world.Silos.Configure(silo => silo.AddMemoryGrainStorage("diaries"));
        await world.Start();
        await world.Grains.GetGrain<TDiary>("mine").Write();
    }
}
