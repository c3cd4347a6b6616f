namespace ActOpSilo;

/// <summary>Counts, and keeps the count.</summary>
public interface ICounterGrain : IGrainWithStringKey
{
    Task<int> Get();

    /// <summary>Returns when the new count is stored.</summary>
    Task<int> Add(int number);
}

[GenerateSerializer, Alias("ActOpSilo.CounterState")]
public sealed class CounterState
{
    [Id(0)]
    public int Count { get; set; }
}

public sealed class CounterGrain([PersistentState("counter")] IPersistentState<CounterState> counter) : Grain, ICounterGrain
{
    public Task<int> Get() => Task.FromResult(counter.State.Count);

    public async Task<int> Add(int number)
    {
        counter.State.Count += number;
        await counter.WriteStateAsync();
        return counter.State.Count;
    }
}
