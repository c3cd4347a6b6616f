using System.Buffers;

namespace Orleans.Serialization.TestKit;

/// <summary>A buffer that can be read in segments of any length.</summary>
public interface IOutputBuffer
{
    /// <summary>What was written, in segments of at most this length.</summary>
    ReadOnlySequence<byte> GetReadOnlySequence(int maxSegmentSize);
}

/// <summary>Makes sequences of several segments.</summary>
public static class ReadOnlySequenceHelper
{
    /// <summary>A sequence with one segment for each array.</summary>
    public static ReadOnlySequence<byte> CreateReadOnlySequence(params byte[][] buffers) => buffers.ToReadOnlySequence();

    /// <summary>A sequence with one segment for each array.</summary>
    public static ReadOnlySequence<byte> ToReadOnlySequence(this IEnumerable<byte[]> buffers) =>
        buffers.Select(static buffer => (ReadOnlyMemory<byte>)buffer).ToReadOnlySequence();

    /// <summary>A sequence with one segment for each memory.</summary>
    public static ReadOnlySequence<byte> ToReadOnlySequence(this IEnumerable<ReadOnlyMemory<byte>> buffers)
    {
        Segment? first = null;
        Segment? last = null;
        foreach (var buffer in buffers)
        {
            last = new Segment(buffer, last);
            first ??= last;
        }

        return first is null ? ReadOnlySequence<byte>.Empty : new(first, 0, last!, last!.Memory.Length);
    }

    /// <summary>The bytes in arrays of at most this length.</summary>
    public static IEnumerable<byte[]> Batch(this IEnumerable<byte> sequence, int batchSize) => sequence.Chunk(batchSize);

    private sealed class Segment : ReadOnlySequenceSegment<byte>
    {
        internal Segment(ReadOnlyMemory<byte> memory, Segment? previous)
        {
            Memory = memory;
            if (previous is null)
                return;
            RunningIndex = previous.RunningIndex + previous.Memory.Length;
            previous.Next = this;
        }
    }
}

/// <summary>A struct that writes to an array; it has room for as much as is asked for and not more.</summary>
public struct TestBufferWriterStruct : IBufferWriter<byte>, IOutputBuffer
{
    private readonly ArrayBufferWriter<byte> _written = new();
    private byte[] _current = [];

    /// <summary>Makes an empty buffer.</summary>
    public TestBufferWriterStruct()
    {
    }

    /// <inheritdoc/>
    public readonly void Advance(int count) => _written.Write(_current.AsSpan(0, count));

    /// <inheritdoc/>
    public Memory<byte> GetMemory(int sizeHint = 0) => _current = new byte[Math.Max(sizeHint, 8)];

    /// <inheritdoc/>
    public Span<byte> GetSpan(int sizeHint = 0) => GetMemory(sizeHint).Span;

    /// <inheritdoc/>
    public readonly ReadOnlySequence<byte> GetReadOnlySequence(int maxSegmentSize) =>
        _written.WrittenSpan.ToArray().Batch(maxSegmentSize).ToReadOnlySequence();
}

/// <summary>Writes to many arrays of at most a given length.</summary>
public sealed class TestMultiSegmentBufferWriter(int maxAllocationSize) : IBufferWriter<byte>, IOutputBuffer
{
    private readonly List<byte[]> _committed = [];
    private byte[] _current = [];

    /// <inheritdoc/>
    public void Advance(int count)
    {
        if (count == 0)
            return;
        _committed.Add(_current.AsSpan(0, count).ToArray());
        _current = [];
    }

    /// <inheritdoc/>
    public Memory<byte> GetMemory(int sizeHint = 0)
    {
        if (_current.Length == 0)
            _current = new byte[Math.Max(sizeHint, maxAllocationSize)];
        else if (_current.Length < sizeHint)
            throw new InvalidOperationException($"{sizeHint} bytes were asked for before {_current.Length} were used.");
        return _current;
    }

    /// <inheritdoc/>
    public Span<byte> GetSpan(int sizeHint = 0) => GetMemory(sizeHint).Span;

    /// <inheritdoc/>
    public ReadOnlySequence<byte> GetReadOnlySequence(int maxSegmentSize) =>
        _committed.SelectMany(static buffer => buffer).Batch(maxSegmentSize).ToReadOnlySequence();

    /// <summary>What was written, in the segments in which it was.</summary>
    public ReadOnlySequence<byte> PeekAllBuffers() => _committed.ToReadOnlySequence();
}
