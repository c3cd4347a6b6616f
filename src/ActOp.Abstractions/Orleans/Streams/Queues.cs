using System.Diagnostics.CodeAnalysis;
using System.Globalization;
using System.Numerics;
using System.Text;
using Orleans.Configuration;
using Orleans.Runtime;

namespace Orleans.Streams;

/// <summary>The name of a queue, with its place on the ring of 32-bit hashes.</summary>
public readonly struct QueueId : IEquatable<QueueId>, IComparable<QueueId>, ISpanFormattable
{
    private readonly string? _prefix;
    private readonly uint _number;
    private readonly uint _hash;

    private QueueId(string prefix, uint number, uint hash) => (_prefix, _number, _hash) = (prefix, number, hash);

    /// <summary>Whether this is no queue.</summary>
    public bool IsDefault => _prefix is null;

    /// <inheritdoc/>
    public static bool operator ==(QueueId left, QueueId right) => left.Equals(right);

    /// <inheritdoc/>
    public static bool operator !=(QueueId left, QueueId right) => !left.Equals(right);

    /// <summary>Names a queue.</summary>
    /// <param name="queueName">What the names of all queues of a provider begin with.</param>
    /// <param name="queueId">Its number.</param>
    /// <param name="hash">Its place on the ring.</param>
    public static QueueId GetQueueId(string queueName, uint queueId, uint hash)
    {
        ArgumentNullException.ThrowIfNull(queueName);
        return new QueueId(queueName, queueId, hash);
    }

    /// <summary>What the names of all queues of the provider begin with.</summary>
    public readonly string GetStringNamePrefix() => _prefix ?? "";

    /// <summary>Its number.</summary>
    public readonly uint GetNumericId() => _number;

    /// <summary>Its place on the ring.</summary>
    public readonly uint GetUniformHashCode() => _hash;

    /// <inheritdoc/>
    public readonly bool Equals(QueueId other) => _number == other._number && _hash == other._hash && _prefix == other._prefix;

    /// <inheritdoc/>
    public readonly override bool Equals([NotNullWhen(true)] object? obj) => obj is QueueId other && Equals(other);

    /// <inheritdoc/>
    public readonly override int GetHashCode() => (int)(_number ^ _hash ^ (_prefix is null
        ? 0 : StableHash.HashOf(Encoding.UTF8.GetBytes(_prefix))));

    /// <inheritdoc/>
    public readonly int CompareTo(QueueId other)
    {
        var order = _number.CompareTo(other._number);
        if (order == 0)
            order = string.CompareOrdinal(_prefix, other._prefix);
        return order != 0 ? order : _hash.CompareTo(other._hash);
    }

    /// <summary>Prefix and number in lower case.</summary>
    public readonly override string ToString() => string.Create(CultureInfo.InvariantCulture, $"{_prefix?.ToLowerInvariant()}-{_number}");

    /// <summary>The name and the place on the ring.</summary>
    public readonly string ToStringWithHashCode() => string.Create(CultureInfo.InvariantCulture, $"{ToString()}-0x{_hash:X8}");

    readonly string IFormattable.ToString(string? format, IFormatProvider? formatProvider) => ToString();

    readonly bool ISpanFormattable.TryFormat(
        Span<char> destination, out int charsWritten, ReadOnlySpan<char> format, IFormatProvider? provider)
    {
        var text = ToString();
        charsWritten = text.TryCopyTo(destination) ? text.Length : 0;
        return charsWritten > 0;
    }
}

/// <summary>A fixed number of queues, evenly on the ring of hashes. A stream is in the queue whose place follows its hash.</summary>
/// <remarks>Immutable; any thread. The same in every process with the same options.</remarks>
public class HashRingBasedStreamQueueMapper : IConsistentRingStreamQueueMapper
{
    private readonly QueueId[] _queues;

    /// <summary>Names the queues.</summary>
    public HashRingBasedStreamQueueMapper(HashRingStreamQueueMapperOptions options, string queueNamePrefix)
    {
        ArgumentNullException.ThrowIfNull(options);
        ArgumentOutOfRangeException.ThrowIfNegative(options.TotalQueueCount, nameof(options.TotalQueueCount));
        _queues = new QueueId[options.TotalQueueCount];
        var step = 0x1_0000_0000UL / (ulong)Math.Max(_queues.Length, 1);
        for (var i = 0; i < _queues.Length; i++)
            _queues[i] = QueueId.GetQueueId(queueNamePrefix, (uint)i, (uint)(step * (ulong)i));
    }

    /// <inheritdoc/>
    public IEnumerable<QueueId> GetAllQueues() => _queues;

    /// <summary>Its queue; the default id if there are no queues.</summary>
    public QueueId GetQueueForStream(StreamId streamId) =>
        _queues.Length == 0 ? default : _queues[(int)((uint)streamId.GetHashCode() * (ulong)_queues.Length >> 32)];

    /// <inheritdoc/>
    public IEnumerable<QueueId> GetQueuesForRange(IRingRange range)
    {
        ArgumentNullException.ThrowIfNull(range);
        return _queues.Where(queue => range.InRange(queue.GetUniformHashCode()));
    }

    /// <inheritdoc/>
    public override string ToString() => string.Join(", ", _queues.Select(static queue => queue.ToStringWithHashCode()));
}

/// <summary>Names of the time providers that streams use.</summary>
public static class StreamingTimeProviderNames
{
    /// <summary>Of all parts.</summary>
    public const string Streaming = "Orleans.Streaming";
}

/// <summary>How checkpoints of queues compare.</summary>
public static class StreamCheckpointComparers
{
    /// <summary>By the numbers that they are. One that is not a number is equal to all: it moves nothing.</summary>
    public static IComparer<string> Numeric { get; } = Comparer<string>.Create(static (left, right) =>
        BigInteger.TryParse(left, NumberStyles.Integer, CultureInfo.InvariantCulture, out var one)
        && BigInteger.TryParse(right, NumberStyles.Integer, CultureInfo.InvariantCulture, out var other)
            ? one.CompareTo(other)
            : 0);
}
