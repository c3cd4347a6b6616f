using Orleans.Runtime;
using Orleans.Storage;

namespace Orleans.Persistence.TestKit;

/// <summary>What every storage of states promises, one promise per method. For authors of storages.</summary>
/// <remarks>
/// A class derives from this one, overrides the methods with the attribute of its test framework, and calls the base; each method throws an
/// <see cref="InvalidOperationException"/> that says what differs. Methods use grains of their own, so they may run beside each other, and
/// leave their records in the storage.
/// </remarks>
public abstract class GrainStorageTestRunner
{
    private const string StateName = "TestGrain";
    private const int WritesInParallel = 10;

    /// <summary>Tests a storage.</summary>
    /// <exception cref="ArgumentNullException">There is none.</exception>
    protected GrainStorageTestRunner(IGrainStorage storage)
    {
        ArgumentNullException.ThrowIfNull(storage);
        Storage = storage;
    }

    /// <summary>The storage under test.</summary>
    protected IGrainStorage Storage { get; }

    /// <summary>Text that is not ASCII comes back.</summary>
    public virtual async Task PersistenceStorage_WriteReadIdCyrillic()
    {
        var (id, state) = GetTestReferenceAndState(0, null);
        state.ETag = (await ReadAsync(id)).ETag; // The key is fixed: an earlier run may have left a record.
        state.State!.A = "Проверка";
        await Store_WriteRead(StateName, id, state);
    }

    /// <summary>A grain without a record has a new state, no ETag and no record, whatever was in the object before.</summary>
    public virtual async Task PersistenceStorage_ReadNonExistentState()
    {
        var (id, state) = New();
        (state.State, state.RecordExists) = (new TestState1 { A = "before", B = 1 }, true);
        await Storage.ReadStateAsync(StateName, id, state);
        Check.Equal(false, state.RecordExists, "RecordExists without a record");
        Check.Equal(null, state.ETag, "the ETag without a record");
        Check.Equal(new TestState1(), state.State, "the state without a record");
    }

    /// <summary>The state of a grain without a record is an object.</summary>
    public virtual async Task PersistenceStorage_ReadNonExistentStateHasNonNullState()
    {
        var read = await ReadAsync(New().Id);
        Check.True(read.State is not null, "the state without a record is null");
        Check.Equal(false, read.RecordExists, "RecordExists without a record");
    }

    /// <summary>What was cleared can be written again.</summary>
    public virtual async Task PersistenceStorage_WriteClearWrite()
    {
        var (id, state) = New();
        await Store_WriteRead(StateName, id, state);
        await ClearAsync(id, state);
        state.State = new TestState1 { A = "again", B = 2 };
        await Store_WriteRead(StateName, id, state);
    }

    /// <summary>A state that is written after a clear is the new one, not the old one.</summary>
    public virtual async Task PersistenceStorage_WriteClearRead()
    {
        var (id, state) = New();
        await Store_WriteClearRead(StateName, id, state);
        var read = await ReadAsync(id);
        Check.Equal(true, read.RecordExists, "RecordExists after clear and write");
        Check.Equal(new TestState1(), read.State, "the state that was written after the clear");
    }

    /// <summary>A state is there after a write and gone after a clear, for who reads it.</summary>
    public virtual async Task PersistenceStorage_WriteReadClearReadCycle()
    {
        var (id, state) = New();
        await Store_WriteRead(StateName, id, state);
        var read = await ReadAsync(id);
        await ClearAsync(id, read);
        Check.Equal(false, (await ReadAsync(id)).RecordExists, "RecordExists after the clear");
    }

    /// <summary>A key may be text.</summary>
    public virtual async Task PersistenceStorage_WriteRead_StringKey()
    {
        var (id, state) = GetTestReferenceAndState("key/" + Guid.NewGuid() + " %\\'\"", null);
        state.State = new TestState1 { A = "text", B = 123 };
        await Store_WriteRead(StateName, id, state);
    }

    /// <summary>A key may be a number.</summary>
    public virtual async Task PersistenceStorage_WriteRead_IntegerKey()
    {
        var key = BitConverter.ToInt64(Guid.NewGuid().ToByteArray());
        var (id, state) = GetTestReferenceAndState(key, null);
        state.State = new TestState1 { A = "number", B = 456, C = key };
        await Store_WriteRead(StateName, id, state);
    }

    /// <summary>A clear where nothing was written leaves nothing.</summary>
    public virtual async Task PersistenceStorage_ClearBeforeWrite()
    {
        var (id, state) = New();
        (state.State, state.RecordExists) = (new TestState1 { A = "before" }, true);
        await Storage.ClearStateAsync(StateName, id, state);
        Check.Equal(false, state.RecordExists, "RecordExists after the clear");
        Check.Equal(new TestState1(), state.State, "the state after the clear");
    }

    /// <summary>The state is an object after a clear.</summary>
    public virtual async Task PersistenceStorage_ClearStateDoesNotNullifyState()
    {
        var (id, state) = New();
        await Store_WriteRead(StateName, id, state);
        await ClearAsync(id, state);
        Check.True(state.State is not null, "the state is null after the clear");
    }

    /// <summary>A clear changes the ETag: to another one, or to null.</summary>
    public virtual async Task PersistenceStorage_ClearUpdatesETag()
    {
        var (id, state) = New();
        await Store_WriteRead(StateName, id, state);
        await ClearAsync(id, state);
    }

    /// <summary>Who reads what was cleared gets a new state and no record.</summary>
    public virtual async Task PersistenceStorage_ReadAfterClear()
    {
        var (id, state) = New();
        await Store_WriteRead(StateName, id, state);
        await ClearAsync(id, state);
        var read = await ReadAsync(id);
        Check.Equal(false, read.RecordExists, "RecordExists after the clear");
        Check.Equal(new TestState1(), read.State, "the state after the clear");
    }

    /// <summary>A second clear changes nothing that can be seen.</summary>
    public virtual async Task PersistenceStorage_MultipleClearOperations()
    {
        var (id, state) = New();
        await Store_WriteRead(StateName, id, state);
        await ClearAsync(id, state);
        await Storage.ClearStateAsync(StateName, id, state);
        Check.Equal(false, state.RecordExists, "RecordExists after the second clear");
        Check.Equal(false, (await ReadAsync(id)).RecordExists, "RecordExists for a reader after the second clear");
    }

    /// <summary>A second activation, which has read nothing, cannot write over a record.</summary>
    public virtual async Task PersistenceStorage_WriteDuplicateFailsWithInconsistentStateException()
    {
        var (id, state) = New();
        await Store_WriteRead(StateName, id, state);
        await Check.ConflictsAsync(
            () => Storage.WriteStateAsync(StateName, id, new GrainState<TestState1>(new TestState1 { A = "second" })),
            "a write without an ETag");
        await IsAsync(id, state);
    }

    /// <summary>A write with an old ETag fails and changes nothing.</summary>
    public virtual async Task PersistenceStorage_WriteInconsistentFailsWithInconsistentStateException()
    {
        var (id, state, old) = await WrittenTwiceAsync();
        await Check.ConflictsAsync(() => Storage.WriteStateAsync(StateName, id, old), "a write with an old ETag");
        await IsAsync(id, state);
    }

    /// <summary>A clear with an old ETag fails and changes nothing.</summary>
    public virtual async Task PersistenceStorage_ClearInconsistentFailsWithInconsistentStateException()
    {
        var (id, state, old) = await WrittenTwiceAsync();
        await Check.ConflictsAsync(() => Storage.ClearStateAsync(StateName, id, old), "a clear with an old ETag");
        await IsAsync(id, state);
    }

    /// <summary>Each write has an ETag of its own.</summary>
    public virtual async Task PersistenceStorage_ETagChangesOnWrite()
    {
        var (id, state) = New();
        var seen = new HashSet<string>();
        for (var i = 0; i < 3; i++)
        {
            state.State = new TestState1 { B = i };
            await Store_WriteRead(StateName, id, state);
            Check.True(seen.Add(state.ETag!), "two writes have the same ETag");
        }
    }

    /// <summary>So has a write that changes nothing.</summary>
    public virtual async Task PersistenceStorage_WriteWithSameValuesUpdatesETag()
    {
        var (id, state) = New();
        await Store_WriteRead(StateName, id, state);
        var first = state.ETag;
        await Store_WriteRead(StateName, id, state);
        Check.True(first != state.ETag, "a write of the same values has the same ETag");
    }

    /// <summary>A grain has a record for each name of a state.</summary>
    public virtual async Task PersistenceStorage_StateNamesUseIndependentRecords()
    {
        var (id, one) = New();
        var other = new GrainState<TestState1>(new TestState1 { A = "other" });
        await Store_WriteRead("one", id, one);
        await Store_WriteRead("other", id, other);
        await Storage.ClearStateAsync("one", id, one);
        var read = new GrainState<TestState1>(new TestState1());
        await Storage.ReadStateAsync("other", id, read);
        Check.Equal((other.State, other.ETag, true), (read.State, read.ETag, read.RecordExists), "the state of the other name");
    }

    /// <summary>100 grains write and read at once, ten times each.</summary>
    public virtual Task PersistenceStorage_WriteReadWriteReadStatesInParallel() =>
        RunPersistenceStorage_WriteReadWriteReadStatesInParallel("Parallel", 100);

    /// <summary>Grains write and read at once, ten times each.</summary>
    /// <param name="prefix">Before the keys of the grains.</param>
    /// <param name="countOfGrains">How many grains.</param>
    protected Task RunPersistenceStorage_WriteReadWriteReadStatesInParallel(string prefix, int countOfGrains) =>
        Task.WhenAll(Enumerable.Range(0, countOfGrains).Select(async number =>
        {
            var (id, state) = GetTestReferenceAndState($"{prefix}-{Guid.NewGuid():N}-{number}", null);
            for (var i = 0; i < WritesInParallel; i++)
            {
                var before = state.ETag;
                state.State = new TestState1 { A = prefix, B = number, C = i };
                await Store_WriteRead(StateName, id, state);
                Check.True(before != state.ETag, "two writes have the same ETag");
            }
        }));

    /// <summary>A grain whose key is a number, and a state for it.</summary>
    /// <param name="grainId">The key.</param>
    /// <param name="version">The ETag.</param>
    protected (GrainId GrainId, GrainState<TestState1> GrainState) GetTestReferenceAndState(long grainId, string? version) =>
        (GrainId.Create(GrainType.Create("my-grain-type"), GrainIdKeyExtensions.CreateIntegerKey(grainId)),
            new GrainState<TestState1>(new TestState1(), version));

    /// <summary>A grain whose key is text, and a state for it.</summary>
    /// <param name="grainId">The key.</param>
    /// <param name="version">The ETag.</param>
    protected (GrainId GrainId, GrainState<TestState1> GrainState) GetTestReferenceAndState(string grainId, string? version) =>
        (GrainId.Create("my-grain-type", grainId), new GrainState<TestState1>(new TestState1(), version));

    /// <summary>Writes the state, reads it as another activation would, and compares the state, the ETag and RecordExists.</summary>
    protected async Task Store_WriteRead<T>(string grainTypeName, GrainId grainId, GrainState<T> grainState)
        where T : new()
    {
        ArgumentNullException.ThrowIfNull(grainState);
        await Storage.WriteStateAsync(grainTypeName, grainId, grainState);
        Check.Equal(true, grainState.RecordExists, "RecordExists after the write");
        Check.True(grainState.ETag is not null, "there is no ETag after the write");
        var read = new GrainState<T>(new T());
        await Storage.ReadStateAsync(grainTypeName, grainId, read);
        Check.Equal(grainState.State, read.State, "the state that was written");
        Check.Equal(grainState.ETag, read.ETag, "the ETag of the state that was written");
        Check.Equal(true, read.RecordExists, "RecordExists of the state that was written");
    }

    /// <summary>Writes the state, clears it, and writes a new one with the ETag of the clear.</summary>
    protected async Task Store_WriteClearRead<T>(string grainTypeName, GrainId grainId, GrainState<T> grainState)
        where T : new()
    {
        ArgumentNullException.ThrowIfNull(grainState);
        await Storage.WriteStateAsync(grainTypeName, grainId, grainState);
        var written = grainState.ETag;
        await Storage.ClearStateAsync(grainTypeName, grainId, grainState);
        Check.True(written != grainState.ETag, "the clear did not change the ETag");
        Check.Equal(false, grainState.RecordExists, "RecordExists after the clear");
        await Store_WriteRead(grainTypeName, grainId, new GrainState<T>(new T(), grainState.ETag));
    }

    private (GrainId Id, GrainState<TestState1> State) New()
    {
        var (id, state) = GetTestReferenceAndState(Guid.NewGuid().ToString("N"), null);
        state.State = new TestState1 { A = "first", B = 1, C = long.MaxValue };
        return (id, state);
    }

    private async Task<GrainState<TestState1>> ReadAsync(GrainId id)
    {
        var read = new GrainState<TestState1>(new TestState1());
        await Storage.ReadStateAsync(StateName, id, read);
        return read;
    }

    private async Task ClearAsync(GrainId id, GrainState<TestState1> state)
    {
        var before = state.ETag;
        await Storage.ClearStateAsync(StateName, id, state);
        Check.Equal(false, state.RecordExists, "RecordExists after the clear");
        Check.True(before != state.ETag, "the clear did not change the ETag");
    }

    private async Task<(GrainId Id, GrainState<TestState1> State, GrainState<TestState1> Old)> WrittenTwiceAsync()
    {
        var (id, state) = New();
        await Store_WriteRead(StateName, id, state);
        var old = new GrainState<TestState1>(new TestState1 { A = "old" }, state.ETag) { RecordExists = true };
        state.State = new TestState1 { A = "latest", B = 3 };
        await Store_WriteRead(StateName, id, state);
        return (id, state, old);
    }

    private async Task IsAsync(GrainId id, GrainState<TestState1> state)
    {
        var read = await ReadAsync(id);
        Check.Equal((state.State, state.ETag, true), (read.State, read.ETag, read.RecordExists), "the record after the refused operation");
    }
}

/// <summary>The state of the tests.</summary>
[Serializable]
[GenerateSerializer]
public class TestState1 : IEquatable<TestState1>
{
    /// <summary>Text.</summary>
    [Id(0)]
    public string? A { get; set; }

    /// <summary>A number.</summary>
    [Id(1)]
    public int B { get; set; }

    /// <summary>A large number.</summary>
    [Id(2)]
    public long C { get; set; }

    /// <inheritdoc/>
    public bool Equals(TestState1? other) => other is not null && (A, B, C) == (other.A, other.B, other.C);

    /// <inheritdoc/>
    public override bool Equals(object? obj) => Equals(obj as TestState1);

    /// <inheritdoc/>
    public override int GetHashCode() => HashCode.Combine(A, B, C);

    /// <inheritdoc/>
    public override string ToString() => $"{{ A = {A}, B = {B}, C = {C} }}";
}

/// <summary>Throws where a storage breaks a promise, without a test framework.</summary>
internal static class Check
{
    public static void True(bool condition, string otherwise)
    {
        if (!condition)
            throw new InvalidOperationException($"The storage is wrong: {otherwise}.");
    }

    public static void Equal<T>(T expected, T actual, string what) => True(
        EqualityComparer<T>.Default.Equals(expected, actual),
        $"{what} is {actual?.ToString() ?? "null"}, not {expected?.ToString() ?? "null"}");

    /// <summary>Runs an operation that the storage must refuse.</summary>
    public static async Task ConflictsAsync(Func<Task> operation, string what)
    {
        try
        {
            await operation();
        }
        catch (InconsistentStateException)
        {
            return;
        }

        True(false, $"{what} is not refused with an {nameof(InconsistentStateException)}");
    }
}
