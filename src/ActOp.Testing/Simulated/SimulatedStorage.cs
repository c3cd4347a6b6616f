using System.Globalization;
using ActOp.Serialization;
using ActOp.Storage;
using Orleans;
using Orleans.Runtime;
using Orleans.Serialization.Serializers;
using Orleans.Storage;

namespace ActOp.Testing.Simulated;

/// <summary>
/// The records of all storages of a run: a database somewhere, which outlives the silos. It compares versions as a real one does. A request
/// is done even if its sender ends meanwhile; the answer reaches only a process that runs.
/// </summary>
/// <remarks>Owns the records. Only the thread of the pump uses it.</remarks>
internal sealed class SimulatedStorage(SimulatedRun run, Pump pump, Dice dice)
{
    private readonly Dictionary<(string Storage, string State, GrainId Grain), Record> _records = [];
    private long _version;

    /// <summary>What happens to the next write, because the test says so.</summary>
    internal Misfortune Next { get; set; }

    internal Task<Record?> ReadAsync(Machine machine, (string Storage, string State, GrainId Grain) key)
    {
        var (misfortune, draw) = run.Faults.OfRead();
        return AskAsync(new Request(machine, misfortune, "reads", key), draw, () => _records.GetValueOrDefault(key));
    }

    /// <summary>Writes a record; without content, removes it.</summary>
    internal Task<string?> WriteAsync(
        Machine machine, (string Storage, string State, GrainId Grain) key, string? version, BinaryData? content)
    {
        var (misfortune, draw) = run.Faults.OfWrite();
        if (Next != Misfortune.None)
            (misfortune, Next) = (Next, Misfortune.None);
        if (content is not null)
            Mix(machine, content.ToMemory().Span);
        var request = new Request(machine, misfortune, content is null ? "clears" : "writes", key);
        return AskAsync(request, draw, () =>
        {
            var stored = _records.GetValueOrDefault(key)?.Version;
            if (stored != version)
            {
                run.Tell(machine.Name, "has a conflict: " + Say(key) + " has another version", request.Refused("conflict"));
                throw new InconsistentStateException("The record of " + Say(key) + " has another version.", stored ?? "", version ?? "");
            }

            if (content is null)
            {
                _records.Remove(key);
                return null;
            }

            var next = (++_version).ToString(CultureInfo.InvariantCulture);
            _records[key] = new Record(next, content);
            return next;
        });
    }

    private Task<T> AskAsync<T>(Request request, Dice draw, Func<T> make)
    {
        var answer = new TaskCompletionSource<T>();
        var machine = request.Machine;
        if (run.IsRecorded)
            run.Tell(machine.Name, request.Text, request.Sent);
        var slow = request.Misfortune == Misfortune.Slow ? draw.Between(Pump.Second / 10, 3 * Pump.Second) : 0;
        if (slow > 0)
            run.Tell("storage", "is slow: " + machine.Name + " waits " + (slow / Pump.Millisecond) + " ms");
        run.Barriers.Pass(machine.Name, request.Text, () =>
        {
            if (machine.IsDead)
                return;
            pump.After(dice.Exponential(Pump.Millisecond), null, EventKind.Table, "storage", () =>
            {
                var end = Do(request, answer, make);
                pump.After(dice.Exponential(Pump.Millisecond) + slow, machine, EventKind.Table, "storage answer", end);
            });
        });
        return answer.Task;
    }

    private Action Do<T>(Request request, TaskCompletionSource<T> answer, Func<T> make)
    {
        var (machine, misfortune, text) = (request.Machine, request.Misfortune, request.Text);
        try
        {
            if (misfortune == Misfortune.CrashBefore && run.CrashBut(machine, "before the storage has it: " + text))
                return static () => { };
            if (misfortune == Misfortune.Refuse)
            {
                run.Tell("storage", "refuses: " + machine.Name + " " + text, request.Refused("refused"));
                throw new IOException("The simulated storage refuses.");
            }

            var result = make();
            if (misfortune == Misfortune.CrashAfter)
                run.CrashBut(machine, "after the storage has done it: " + text);
            if (misfortune == Misfortune.LoseAnswer)
            {
                run.Tell(
                    "storage", "has done it, and its answer is lost: " + machine.Name + " " + text, request.Refused("answer is lost"));
                throw new IOException("The answer of the simulated storage is lost.");
            }

            return () => answer.TrySetResult(result);
        }
        catch (Exception exception)
        {
            return () => answer.TrySetException(exception);
        }
    }

    /// <summary>What is written is a part of the history: a value that is not of the simulation shows.</summary>
    private void Mix(Machine machine, ReadOnlySpan<byte> content)
    {
        foreach (var one in content)
            pump.Mix(one);
        if (pump.IsTraced)
            pump.Write(machine, EventKind.Table, "writes the bytes " + Convert.ToHexString(content));
    }

    private static string Say((string Storage, string State, GrainId Grain) key) => key.State + " of " + key.Grain;

    private sealed record Request(Machine Machine, Misfortune Misfortune, string Verb, (string Storage, string State, GrainId Grain) Key)
    {
        internal string Text { get; } = Verb + " " + Say(Key);

        internal Arrow Sent => new(Key.Grain.ToString(), Diagram.Storage, Verb + " " + Key.State);

        internal Arrow Refused(string why) => new(Diagram.Storage, Key.Grain.ToString(), why, IsLost: true);
    }

    /// <summary>A state as it was written.</summary>
    internal sealed record Record(string Version, BinaryData Content);
}

/// <summary>A storage as the grains of one machine see it.</summary>
/// <remarks>Owns nothing. Only the thread of the pump uses it.</remarks>
internal sealed class MachineStorage(SimulatedStorage storage, Machine machine, string name) : IGrainStorage
{
    // States have the form in which the storage in memory keeps them: that of messages, else JSON.
    private MemoryForm Form => field ??= new MemoryForm(machine.Service<ICodecScope>(), machine.Service<IGrainStorageSerializer>());

    public async Task ReadStateAsync<T>(string stateName, GrainId grainId, IGrainState<T> grainState)
    {
        var record = await storage.ReadAsync(machine, (name, stateName, grainId)).ConfigureAwait(false);
        (grainState.ETag, grainState.RecordExists) = (record?.Version, record is not null);
        grainState.State = record is null ? Create<T>() : Form.Deserialize<T>(record.Content)!;
    }

    public async Task WriteStateAsync<T>(string stateName, GrainId grainId, IGrainState<T> grainState)
    {
        var content = Form.Serialize(grainState.State);
        grainState.ETag = await storage.WriteAsync(machine, (name, stateName, grainId), grainState.ETag, content).ConfigureAwait(false);
        grainState.RecordExists = true;
    }

    public async Task ClearStateAsync<T>(string stateName, GrainId grainId, IGrainState<T> grainState)
    {
        await storage.WriteAsync(machine, (name, stateName, grainId), grainState.ETag, null).ConfigureAwait(false);
        (grainState.ETag, grainState.RecordExists, grainState.State) = (null, false, Create<T>());
    }

    private T Create<T>() => machine.Service<IActivatorProvider>().GetActivator<T>().Create();
}
