using Orleans.Persistence.TestKit;
using Orleans.Storage;

namespace ActOp.State.Tests;

/// <summary>How a storage is broken.</summary>
public enum Fault
{
    None,
    KeepsETag,
    IgnoresETag,
    ClearsNothing,
    KeepsStateOfReader,
    OneRecordForAllNames,
    OnlyAscii,
    LosesNewest,
    SharesRecords,
    UsesETagsAgain,
}

/// <summary>A storage in memory that breaks one promise.</summary>
internal sealed class FaultyStorage(Fault fault) : IGrainStorage
{
    private readonly Dictionary<string, (TestState1 State, string ETag)> _records = [];
    private int _writes;

    /// <summary>The grains that were read, and the names of their states.</summary>
    public HashSet<string> Read { get; } = [];

    public Task ReadStateAsync<T>(string stateName, GrainId grainId, IGrainState<T> grainState)
    {
        Read.Add(stateName + " of " + grainId);
        if (_records.TryGetValue(Key(stateName, grainId), out var record))
            Set(grainState, (T)(object)Copy(record.State), record.ETag, true);
        else if (fault == Fault.KeepsStateOfReader)
            Set(grainState, grainState.State!, null, false);
        else
            Set(grainState, Activator.CreateInstance<T>(), null, false);
        return Task.CompletedTask;
    }

    public async Task WriteStateAsync<T>(string stateName, GrainId grainId, IGrainState<T> grainState)
    {
        await Task.Yield();
        var key = Key(stateName, grainId);
        lock (_records)
        {
            var known = _records.GetValueOrDefault(key);
            if (fault != Fault.IgnoresETag && known.ETag != grainState.ETag)
                throw new InconsistentStateException("Other ETag.", known.ETag, grainState.ETag);
            var etag = fault switch
            {
                Fault.KeepsETag => "always",
                Fault.UsesETagsAgain => known.ETag is null ? "0" : known.ETag + "0",
                _ => (++_writes).ToString(System.Globalization.CultureInfo.InvariantCulture),
            };
            var state = Copy((TestState1)(object)grainState.State!);
            if (fault == Fault.OnlyAscii && state.A is not null)
                state.A = string.Concat(state.A.Select(static c => c < 128 ? c : '?'));
            _records[key] = (fault == Fault.LosesNewest ? known.State ?? new TestState1() : state, etag);
            (grainState.ETag, grainState.RecordExists) = (etag, true);
        }
    }

    public Task ClearStateAsync<T>(string stateName, GrainId grainId, IGrainState<T> grainState)
    {
        var key = Key(stateName, grainId);
        var known = _records.GetValueOrDefault(key);
        if (fault != Fault.IgnoresETag && known.ETag != grainState.ETag)
            throw new InconsistentStateException("Other ETag.", known.ETag, grainState.ETag);
        if (fault != Fault.ClearsNothing)
            _records.Remove(key);
        var state = fault == Fault.KeepsStateOfReader ? grainState.State! : Activator.CreateInstance<T>();
        Set(grainState, state, fault == Fault.KeepsETag ? grainState.ETag : null, false);
        return Task.CompletedTask;
    }

    private static void Set<T>(IGrainState<T> target, T state, string? etag, bool exists) =>
        (target.State, target.ETag, target.RecordExists) = (state, etag, exists);

    private static TestState1 Copy(TestState1 state) => new() { A = state.A, B = state.B, C = state.C };

    private string Key(string stateName, GrainId grainId) => fault switch
    {
        Fault.OneRecordForAllNames => grainId.ToString(),
        Fault.SharesRecords => stateName + grainId.Key.ToString()!.Split('-')[0],
        _ => stateName + grainId,
    };
}

/// <summary>Each test for authors of storages finds a storage that breaks its promise.</summary>
public class StorageTestKitTests
{
    [Theory]
    [InlineData(Fault.None, "")]
    [InlineData(Fault.KeepsETag, "ClearInconsistentFailsWithInconsistentStateException ClearUpdatesETag ETagChangesOnWrite "
        + "MultipleClearOperations WriteClearRead")]
    [InlineData(Fault.IgnoresETag, "ClearInconsistentFailsWithInconsistentStateException "
        + "WriteDuplicateFailsWithInconsistentStateException WriteInconsistentFailsWithInconsistentStateException")]
    [InlineData(Fault.ClearsNothing, "ReadAfterClear WriteReadClearReadCycle MultipleClearOperations")]
    [InlineData(Fault.KeepsStateOfReader, "ReadNonExistentState ClearBeforeWrite")]
    [InlineData(Fault.OneRecordForAllNames, "StateNamesUseIndependentRecords")]
    [InlineData(Fault.OnlyAscii, "WriteReadIdCyrillic")]
    [InlineData(Fault.LosesNewest, "WriteRead_StringKey WriteRead_IntegerKey WriteClearWrite WriteReadWriteReadStatesInParallel")]
    [InlineData(Fault.SharesRecords, "WriteReadWriteReadStatesInParallel")]
    public async Task A_broken_promise_is_found_by_the_tests_for_it(Fault fault, string expected)
    {
        var found = await Broken(fault).Failing();
        if (fault == Fault.None)
            Assert.Empty(found);
        else
            Assert.Empty(expected.Split(' ').Except(found));
    }

    [Theory]
    [InlineData(Fault.KeepsETag)]
    [InlineData(Fault.IgnoresETag)]
    [InlineData(Fault.ClearsNothing)]
    [InlineData(Fault.KeepsStateOfReader)]
    [InlineData(Fault.LosesNewest)]
    [InlineData(Fault.UsesETagsAgain)]
    public async Task The_model_finds_the_shortest_way_to_the_fault_and_names_it(Fault fault)
    {
        var lines = new List<string>();
        var runner = new GrainStorageModelBasedTestRunner(new FaultyStorage(fault), "Faulty", lines.Add);
        var thrown = await Assert.ThrowsAsync<InvalidOperationException>(runner.RunGeneratedConformanceTests);
        Assert.StartsWith("Faulty, after ", thrown.Message, StringComparison.Ordinal);
        Assert.Equal([thrown.Message], lines);
    }

    [Fact]
    public async Task A_storage_that_keeps_its_promises_passes_the_model() =>
        await new GrainStorageModelBasedTestRunner(new FaultyStorage(Fault.None), "Right").RunGeneratedConformanceTests();

    [Theory]
    [InlineData(1, 2, 6)]
    [InlineData(2, 2, 36)]
    [InlineData(3, 1, 6)]
    public async Task The_options_say_how_many_sequences_run_and_with_which_grains(int depth, int length, int sequences)
    {
        var options = new GrainStorageModelBasedConformanceOptions
        {
            ProviderName = "Named",
            GrainType = "type",
            KeyPrefix = "key",
            MaxDepth = depth,
            MaxSequenceLength = length,
        };
        var storage = new FaultyStorage(Fault.None);
        await new GrainStorageModelBasedTestRunner(storage, options).RunGeneratedConformanceTests();
        // One grain more tells whether cleared records are kept.
        Assert.Equal(
            Enumerable.Range(0, sequences + 1).Select(static number => "type of type/key-" + number).ToHashSet(), storage.Read);
        var thrown = await Assert.ThrowsAsync<InvalidOperationException>(
            new GrainStorageModelBasedTestRunner(new FaultyStorage(Fault.KeepsStateOfReader), options).RunGeneratedConformanceTests);
        Assert.StartsWith("Named, after ", thrown.Message, StringComparison.Ordinal);
    }

    [Fact]
    public async Task A_fixture_without_its_storage_says_so_and_leaves_no_cluster()
    {
        var fixture = new Unregistered();
        var thrown = await Assert.ThrowsAsync<InvalidOperationException>(async () => await fixture.InitializeAsync());
        Assert.Contains("no storage \"missing\"", thrown.Message, StringComparison.Ordinal);
        Assert.Throws<InvalidOperationException>(() => fixture.Storage);
        await fixture.DisposeAsync();
    }

    private static Runner Broken(Fault fault) => new(new FaultyStorage(fault));

    private sealed class Unregistered : GrainStorageTestFixture
    {
        protected override string StorageProviderName => "missing";

        protected override void ConfigureSilo(ISiloBuilder siloBuilder)
        {
        }
    }

    private sealed class Runner(IGrainStorage storage) : GrainStorageTestRunner(storage)
    {
        public async Task<List<string>> Failing()
        {
            const string prefix = "PersistenceStorage_";
            var failing = new List<string>();
            var promises = typeof(GrainStorageTestRunner).GetMethods().Where(m => m.Name.StartsWith(prefix, StringComparison.Ordinal));
            foreach (var method in promises)
            {
                try
                {
                    await (Task)method.Invoke(this, null)!;
                }
                catch (Exception e) when (e is InvalidOperationException or InconsistentStateException)
                {
                    failing.Add(method.Name[prefix.Length..]);
                }
            }

            return failing;
        }
    }
}
