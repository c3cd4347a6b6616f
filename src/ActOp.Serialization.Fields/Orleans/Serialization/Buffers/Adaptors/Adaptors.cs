using System.Buffers;

namespace Orleans.Serialization.Buffers.Adaptors;

/// <summary>Writes into a span; the writer holds the span.</summary>
public struct SpanBufferWriter : IBufferWriter<byte>
{
    public int BytesWritten { get; private set; }

    public void Advance(int count) => BytesWritten += count;

    public readonly Memory<byte> GetMemory(int sizeHint = 0) => throw Insufficient();

    public readonly Span<byte> GetSpan(int sizeHint = 0) => throw Insufficient();

    internal static InvalidOperationException Insufficient() => new("Insufficient capacity to perform the requested operation.");
}

/// <summary>Writes into a memory.</summary>
public struct MemoryBufferWriter : IBufferWriter<byte>
{
    private readonly Memory<byte> _memory;

    internal MemoryBufferWriter(Memory<byte> memory) => _memory = memory;

    public int BytesWritten { get; private set; }

    public void Advance(int count)
    {
        if (count > _memory.Length - BytesWritten)
            throw SpanBufferWriter.Insufficient();
        BytesWritten += count;
    }

    public readonly Memory<byte> GetMemory(int sizeHint = 0) =>
        _memory.Length - BytesWritten >= sizeHint ? _memory[BytesWritten..] : throw SpanBufferWriter.Insufficient();

    public readonly Span<byte> GetSpan(int sizeHint = 0) => GetMemory(sizeHint).Span;
}

/// <summary>Writes to a stream of memory.</summary>
public readonly struct MemoryStreamBufferWriter : IBufferWriter<byte>
{
    private readonly MemoryStream _stream;
    private readonly ArrayBufferWriter<byte> _scratch = new();

    public MemoryStreamBufferWriter(MemoryStream stream) => _stream = stream;

    public readonly void Advance(int count)
    {
        _scratch.Advance(count);
        _stream.Write(_scratch.WrittenSpan);
        _scratch.ResetWrittenCount();
    }

    public readonly Memory<byte> GetMemory(int sizeHint = 0) => _scratch.GetMemory(sizeHint);

    public readonly Span<byte> GetSpan(int sizeHint = 0) => _scratch.GetSpan(sizeHint);
}

/// <summary>Writes to a stream through an array.</summary>
public struct ArrayStreamBufferWriter : IBufferWriter<byte>
{
    public const int DefaultInitialBufferSize = 256;

    private readonly Stream _stream;
    private byte[] _buffer;

    public ArrayStreamBufferWriter(Stream stream, int sizeHint = 0)
    {
        _stream = stream;
        _buffer = new byte[sizeHint == 0 ? DefaultInitialBufferSize : sizeHint];
    }

    public void Advance(int count) => _stream.Write(_buffer, 0, count);

    public Memory<byte> GetMemory(int sizeHint = 0)
    {
        if (_buffer.Length < sizeHint)
            _buffer = new byte[sizeHint];
        return _buffer;
    }

    public Span<byte> GetSpan(int sizeHint = 0) => GetMemory(sizeHint).Span;
}

/// <summary>Writes to a stream through an array of the pool, which <see cref="Dispose"/> gives back.</summary>
public struct PoolingStreamBufferWriter : IBufferWriter<byte>, IDisposable
{
    private readonly Stream _stream;
    private byte[] _buffer;

    internal PoolingStreamBufferWriter(Stream stream, int sizeHint)
    {
        _stream = stream;
        _buffer = ArrayPool<byte>.Shared.Rent(sizeHint == 0 ? 4096 : sizeHint);
    }

    public readonly void Advance(int count) => _stream.Write(_buffer, 0, count);

    public Memory<byte> GetMemory(int sizeHint = 0)
    {
        if (_buffer.Length < sizeHint)
        {
            ArrayPool<byte>.Shared.Return(_buffer);
            _buffer = ArrayPool<byte>.Shared.Rent(sizeHint);
        }

        return _buffer;
    }

    public Span<byte> GetSpan(int sizeHint = 0) => GetMemory(sizeHint).Span;

    public void Dispose()
    {
        var buffer = _buffer;
        _buffer = [];
        if (buffer is { Length: > 0 })
            ArrayPool<byte>.Shared.Return(buffer);
    }
}

/// <summary>Marks a reader of a pooled buffer.</summary>
public struct BufferSliceReaderInput
{
    public BufferSliceReaderInput(in PooledBuffer.BufferSlice slice) => Slice = slice;

    internal PooledBuffer.BufferSlice Slice { get; }
}

/// <summary>Marks a reader of shared pages.</summary>
public struct ArcBufferReaderInput
{
    public ArcBufferReaderInput(in ArcBuffer slice) => Slice = slice;

    internal ArcBuffer Slice { get; }
}

/// <summary>A writer that is a struct, as an object.</summary>
/// <typeparam name="TBufferWriter">The struct.</typeparam>
public class BufferWriterBox<TBufferWriter> : IBufferWriter<byte>
    where TBufferWriter : struct, IBufferWriter<byte>
{
    private TBufferWriter _value;

    public BufferWriterBox(TBufferWriter bufferWriter) => _value = bufferWriter;

    public ref TBufferWriter Value => ref _value;

    public void Advance(int count) => _value.Advance(count);

    public Memory<byte> GetMemory(int sizeHint = 0) => _value.GetMemory(sizeHint);

    public Span<byte> GetSpan(int sizeHint = 0) => _value.GetSpan(sizeHint);
}
