using System.Text.Json;
using ActOp.Testing.Simulated;
using Orleans.Storage;

namespace ActOp.Simulation.World;

/// <summary>The storage of explicit subscriptions, as one machine sees it. A record that is cleared stays as a mark with a version.</summary>
internal sealed class SubscriptionStorage(Store store, Machine machine) : IGrainStorage
{
    private const string Cleared = "null";

    public async Task ReadStateAsync<T>(string stateName, GrainId grainId, IGrainState<T> grainState)
    {
        var record = await store.ReadAsync(machine, grainId.ToString());
        grainState.ETag = record?.ETag;
        grainState.RecordExists = record is { Json: not Cleared };
        if (grainState.RecordExists)
            grainState.State = JsonSerializer.Deserialize<T>(record!.Value.Json);
    }

    public async Task WriteStateAsync<T>(string stateName, GrainId grainId, IGrainState<T> grainState)
    {
        var json = JsonSerializer.Serialize(grainState.State);
        grainState.ETag = await store.WriteAsync(machine, grainId.ToString(), grainState.ETag, json);
        grainState.RecordExists = true;
    }

    public async Task ClearStateAsync<T>(string stateName, GrainId grainId, IGrainState<T> grainState)
    {
        grainState.ETag = await store.WriteAsync(machine, grainId.ToString(), grainState.ETag, Cleared);
        grainState.RecordExists = false;
    }
}
