using Orleans.Runtime;
using Orleans.Storage;

namespace Orleans.Persistence.TestKit;

/// <summary>How much <see cref="GrainStorageModelBasedTestRunner"/> tries.</summary>
public sealed class GrainStorageModelBasedConformanceOptions
{
    /// <summary>The storage's name in messages.</summary>
    public string ProviderName { get; set; } = "GrainStorage";

    /// <summary>The grain type of the grains, which is also the name of their state. Default "TestGrain".</summary>
    public string GrainType { get; set; } = "TestGrain";

    /// <summary>Before the keys of the grains; null for one that no other run has.</summary>
    public string? KeyPrefix { get; set; }

    /// <summary>How many operations deep sequences are told apart: from there on they are not branched further. Default 4.</summary>
    public int MaxDepth { get; set; } = 4;

    /// <summary>How many operations a sequence has. Default 4; with all six at each step these are 1,296 sequences.</summary>
    public int MaxSequenceLength { get; set; } = 4;
}

/// <summary>
/// Runs every sequence of reads, writes and clears, also of those with old ETags, up to a length, each with a grain of its own, and
/// compares the storage with a model after every operation.
/// </summary>
/// <remarks>
/// A storage may delete the record of a cleared state, or keep it with an ETag; the runner finds out which with a grain of its own. One
/// operation at a time. The first difference ends the run; its sequence is in the message.
/// </remarks>
public sealed class GrainStorageModelBasedTestRunner
{
    private static readonly Operation[] All = Enum.GetValues<Operation>();

    private readonly IGrainStorage _storage;
    private readonly GrainStorageModelBasedConformanceOptions _options;
    private readonly Action<string>? _output;
    private readonly string _prefix;
    private int _grains;

    /// <summary>Tests a storage with the default options.</summary>
    /// <param name="storage">The storage.</param>
    /// <param name="providerName">Its name in messages.</param>
    /// <param name="output">Gets what differs.</param>
    public GrainStorageModelBasedTestRunner(IGrainStorage storage, string providerName, Action<string>? output = null)
        : this(storage, new GrainStorageModelBasedConformanceOptions { ProviderName = providerName }, output)
    {
    }

    /// <summary>Tests a storage.</summary>
    /// <param name="storage">The storage.</param>
    /// <param name="options">How much is tried.</param>
    /// <param name="output">Gets what differs.</param>
    /// <exception cref="ArgumentOutOfRangeException">A length is less than 1.</exception>
    public GrainStorageModelBasedTestRunner(
        IGrainStorage storage, GrainStorageModelBasedConformanceOptions options, Action<string>? output = null)
    {
        ArgumentNullException.ThrowIfNull(storage);
        ArgumentNullException.ThrowIfNull(options);
        ArgumentOutOfRangeException.ThrowIfLessThan(options.MaxDepth, 1);
        ArgumentOutOfRangeException.ThrowIfLessThan(options.MaxSequenceLength, 1);
        (_storage, _options, _output) = (storage, options, output);
        _prefix = options.KeyPrefix ?? options.ProviderName + "-" + Guid.NewGuid().ToString("N");
    }

    private enum Operation
    {
        Read,
        Write,
        WriteWithoutETag,
        WriteOld,
        Clear,
        ClearOld,
    }

    /// <summary>Runs all sequences.</summary>
    /// <exception cref="InvalidOperationException">The storage and the model differ.</exception>
    public async Task RunGeneratedConformanceTests()
    {
        var keeps = await KeepsClearedAsync();
        var sequence = new Operation[_options.MaxSequenceLength];
        var branched = Math.Min(_options.MaxDepth, sequence.Length);
        // The digits of a number, one per step: each sequence once. Its beginnings are no sequences of their own.
        for (var number = 0L; number < Power(All.Length, branched); number++)
        {
            var rest = number;
            for (var step = 0; step < sequence.Length; step++)
            {
                sequence[step] = step < branched ? All[rest % All.Length] : Operation.Read;
                rest /= All.Length;
            }

            await RunAsync(sequence, keeps);
        }
    }

    private static long Power(long number, int exponent) => exponent == 0 ? 1 : number * Power(number, exponent - 1);

    private async Task RunAsync(Operation[] sequence, bool keeps)
    {
        var run = new Model(_storage, _options.GrainType, NextGrain(), keeps);
        for (var step = 0; step < sequence.Length; step++)
        {
            try
            {
                await run.DoAsync(sequence[step], step);
                await run.CompareAsync();
            }
            catch (Exception e)
            {
                var message = $"{_options.ProviderName}, after {string.Join(", ", sequence.Take(step + 1))}: {e.Message}";
                _output?.Invoke(message);
                throw new InvalidOperationException(message, e);
            }
        }
    }

    private async Task<bool> KeepsClearedAsync()
    {
        var id = NextGrain();
        var state = new GrainState<TestState1>(new TestState1 { A = "cleared" });
        await _storage.WriteStateAsync(_options.GrainType, id, state);
        await _storage.ClearStateAsync(_options.GrainType, id, state);
        var read = new GrainState<TestState1>(new TestState1());
        await _storage.ReadStateAsync(_options.GrainType, id, read);
        return read.ETag is not null;
    }

    private GrainId NextGrain() => GrainId.Create(_options.GrainType, $"{_prefix}-{_grains++}");

    /// <summary>What the storage must hold for one grain, and the ETags that its activations have.</summary>
    private sealed class Model(IGrainStorage storage, string name, GrainId id, bool keeps)
    {
        private TestState1? _value;
        private string? _etag;
        private string? _old;

        public Task DoAsync(Operation operation, int number) => operation switch
        {
            Operation.Read => Task.CompletedTask, // It follows each operation.
            Operation.Write => WriteAsync(_etag, number),
            Operation.WriteWithoutETag => WriteAsync(null, number),
            Operation.WriteOld => WriteAsync(_old ?? "none", number),
            Operation.Clear => ClearAsync(_etag),
            _ => ClearAsync(_old ?? "none"),
        };

        /// <summary>Reads as a new activation would.</summary>
        public async Task CompareAsync()
        {
            var read = new GrainState<TestState1>(new TestState1 { A = "before" });
            await storage.ReadStateAsync(name, id, read);
            Check.Equal(_value is not null, read.RecordExists, "RecordExists");
            Check.Equal(_value ?? new TestState1(), read.State, "the state");
            Check.Equal(_etag, read.ETag, "the ETag");
        }

        private async Task WriteAsync(string? etag, int number)
        {
            var state = new GrainState<TestState1>(new TestState1 { A = "value", B = number }, etag);
            if (etag != _etag)
            {
                await Check.ConflictsAsync(() => storage.WriteStateAsync(name, id, state), $"a write with the ETag {etag ?? "null"}");
                return;
            }

            await storage.WriteStateAsync(name, id, state);
            Check.Equal(true, state.RecordExists, "RecordExists after the write");
            Moved(state.ETag, "write");
            Check.True(state.ETag is not null, "there is no ETag after the write");
            _value = new TestState1 { A = "value", B = number };
        }

        private async Task ClearAsync(string? etag)
        {
            var state = new GrainState<TestState1>(new TestState1 { A = "before" }, etag) { RecordExists = true };
            if (etag != _etag)
            {
                await Check.ConflictsAsync(() => storage.ClearStateAsync(name, id, state), $"a clear with the ETag {etag ?? "null"}");
                return;
            }

            await storage.ClearStateAsync(name, id, state);
            Check.Equal(false, state.RecordExists, "RecordExists after the clear");
            Check.Equal(new TestState1(), state.State, "the state after the clear");
            if (_value is not null)
                Moved(state.ETag, "clear");
            else
                _etag = state.ETag;
            Check.True(keeps || state.ETag is null, "a cleared record has an ETag, though the storage deletes such records");
            _value = null;
        }

        private void Moved(string? etag, string operation)
        {
            Check.True(etag != _etag && (etag is null || etag != _old), $"the {operation} has an ETag that was used before");
            (_old, _etag) = (_etag ?? _old, etag);
        }
    }
}
