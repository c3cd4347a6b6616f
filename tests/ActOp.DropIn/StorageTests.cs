using System.Collections.Concurrent;
using Microsoft.Extensions.DependencyInjection;
using Orleans.Storage;

namespace DropIn;

/// <summary>A storage of the application, which fails for states that say so.</summary>
public sealed class OwnStorage : IGrainStorage
{
    private readonly ConcurrentDictionary<(string, GrainId), (object? State, int Version)> _states = new();

    public Task ReadStateAsync<T>(string stateName, GrainId grainId, IGrainState<T> grainState)
    {
        Journal.Of(grainId.Key.ToString()!).Add("read " + stateName);
        if (grainId.Key.ToString()!.StartsWith("unreadable", StringComparison.Ordinal))
            throw new OrderException("It cannot be read.", 8);
        if (_states.TryGetValue((stateName, grainId), out var found))
            (grainState.State, grainState.ETag, grainState.RecordExists) = ((T?)found.State, found.Version.ToString(), true);
        return Task.CompletedTask;
    }

    public Task WriteStateAsync<T>(string stateName, GrainId grainId, IGrainState<T> grainState)
    {
        Journal.Of(grainId.Key.ToString()!).Add("write " + stateName);
        if (grainId.Key.ToString()!.StartsWith("unwritable", StringComparison.Ordinal))
            throw new OrderException("It cannot be written.", 9);
        var version = int.Parse(grainState.ETag ?? "0") + 1;
        _states[(stateName, grainId)] = (grainState.State, version);
        (grainState.ETag, grainState.RecordExists) = (version.ToString(), true);
        return Task.CompletedTask;
    }

    public Task ClearStateAsync<T>(string stateName, GrainId grainId, IGrainState<T> grainState)
    {
        Journal.Of(grainId.Key.ToString()!).Add("clear " + stateName);
        _states.TryRemove((stateName, grainId), out _);
        (grainState.ETag, grainState.RecordExists) = (null, false);
        return Task.CompletedTask;
    }
}

public interface IOwnlyStored : IGrainWithStringKey
{
    Task<string> Set(int value);

    Task<string> Clear();

    Task<string> CatchConflict();

    Task<Guid> Activation();

    Task WriteTwiceAtOnce();
}

public sealed class OwnlyStoredGrain(
    [PersistentState("thing", "own")] IPersistentState<int> state,
    [PersistentState("conflict")] IPersistentState<Account> conflict,
    IServiceProvider services) : Grain, IOwnlyStored
{
    private readonly Guid _activation = Guid.NewGuid();

    public async Task<string> Set(int value)
    {
        state.State = value;
        await state.WriteStateAsync();
        return $"{state.State} {state.Etag} {state.RecordExists}";
    }

    public async Task<string> Clear()
    {
        await state.ClearStateAsync();
        return $"{state.State} {state.Etag ?? "null"} {state.RecordExists}";
    }

    public async Task WriteTwiceAtOnce() => await Task.WhenAll(state.WriteStateAsync(), state.WriteStateAsync());

    public async Task<string> CatchConflict()
    {
        await conflict.WriteStateAsync();
        var storage = services.GetRequiredKeyedService<IGrainStorage>("Default");
        await storage.WriteStateAsync("conflict", this.GetGrainId(), new GrainState<Account>(new Account(), conflict.Etag));
        try
        {
            await conflict.WriteStateAsync();
            return "nothing";
        }
        catch (InconsistentStateException)
        {
            return "caught";
        }
    }

    public Task<Guid> Activation() => Task.FromResult(_activation);
}

/// <summary>Storages of the application, and failures of storages.</summary>
public class StorageTests(CommonCluster cluster)
{
    private readonly (Journal Journal, string Name) _made = Journal.Create();

    private IOwnlyStored Grain => cluster.Client.GetGrain<IOwnlyStored>(_made.Name);

    [Fact]
    public async Task A_storage_of_the_application_is_asked_by_the_name_of_the_state()
    {
        Assert.Equal("5 1 True", await Grain.Set(5));
        Assert.Equal("6 2 True", await Grain.Set(6));
        Assert.Equal("6 null False", await Grain.Clear());
        Assert.Equal(["read thing", "write thing", "write thing", "clear thing"], _made.Journal.Lines);
    }

    [Fact]
    public async Task Writes_that_are_asked_for_at_once_follow_each_other()
    {
        await Grain.WriteTwiceAtOnce();
        Assert.Equal("7 " + (_made.Journal.Lines.Length - 1 + 1) + " True", await Grain.Set(7));
    }

    [Fact]
    public async Task An_exception_of_a_read_fails_the_activation_and_its_callers()
    {
        var grain = cluster.Client.GetGrain<IOwnlyStored>("unreadable " + _made.Name);
        var exception = await Assert.ThrowsAsync<OrleansException>(() => grain.Activation());
        Assert.Equal(8, Assert.IsType<OrderException>(exception.InnerException).Order);
    }

    [Fact]
    public async Task An_exception_of_a_write_reaches_who_wrote()
    {
        var grain = cluster.Client.GetGrain<IOwnlyStored>("unwritable " + _made.Name);
        var before = await grain.Activation();
        var exception = await Assert.ThrowsAsync<OrleansException>(() => grain.Set(1));
        Assert.Equal(9, Assert.IsType<OrderException>(exception.InnerException).Order);
        Assert.Equal(before, await grain.Activation());
    }

    [Fact]
    public async Task A_grain_that_catches_a_conflict_and_does_not_read_goes_on_as_the_runtime_states()
    {
        var before = await Grain.Activation();
        var caught = Grain.CatchConflict();
        Assert.Equal("caught", await caught);
        Assert.Equal(Stated.ConflictThatIsCaughtEndsTheActivation, before != await Grain.Activation());
    }
}
