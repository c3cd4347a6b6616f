using System.Buffers;
using ActOp;

namespace Orleans.Serialization.Buffers;

/// <summary>
/// A growing buffer whose memory comes from a pool. Copies of the struct share it; <see cref="Dispose"/> gives the memory back once, and
/// slices are not to be used after that. One thread at a time.
/// </summary>
public struct PooledBuffer : IBufferWriter<byte>, IDisposable
{
    private const int Minimum = 4096;

    private Store? _store;

    public PooledBuffer() => _store = new Store();

    public readonly int Length => _store?.Length ?? 0;

    public readonly MemoryEnumerator MemorySegments => new(this);

    internal readonly ReadOnlyMemory<byte> Memory => _store is null ? default : _store.Bytes.AsMemory(0, _store.Length);

    public void Advance(int bytes)
    {
        if (bytes < 0 || bytes > Current.Bytes.Length - Current.Length)
            throw new InvalidOperationException("Cannot advance past the end of the current capacity.");
        Current.Length += bytes;
    }

    public Memory<byte> GetMemory(int sizeHint = 0) => Current.Reserve(Math.Max(1, sizeHint));

    public Span<byte> GetSpan(int sizeHint = 0) => GetMemory(sizeHint).Span;

    public void Write(ReadOnlySpan<byte> value)
    {
        value.CopyTo(GetSpan(value.Length));
        Advance(value.Length);
    }

    public void Write(ReadOnlySequence<byte> input)
    {
        foreach (var segment in input)
            Write(segment.Span);
    }

    public readonly byte[] ToArray() => Memory.ToArray();

    public readonly ReadOnlySequence<byte> AsReadOnlySequence() => new(Memory);

    public readonly void CopyTo(Span<byte> output) => Memory.Span.CopyTo(output);

    public readonly void CopyTo<TBufferWriter>(ref TBufferWriter writer)
        where TBufferWriter : IBufferWriter<byte>
    {
        CopyTo(writer.GetSpan(Length));
        writer.Advance(Length);
    }

    public readonly void CopyTo<TBufferWriter>(ref Writer<TBufferWriter> writer)
        where TBufferWriter : IBufferWriter<byte> => writer.Write(Memory.Span);

    public readonly BufferSlice Slice() => new(this, 0, Length);

    public readonly BufferSlice Slice(int offset) => new(this, offset, Length - offset);

    public readonly BufferSlice Slice(int offset, int length) => new(this, offset, length);

    public void Reset() => _store?.Reset();

    public void Dispose() => _store?.Reset();

    private Store Current => _store ??= new Store();

    private sealed class Store
    {
        internal byte[] Bytes { get; private set; } = [];

        internal int Length { get; set; }

        internal Memory<byte> Reserve(int count)
        {
            if (Bytes.Length - Length < count)
            {
                var larger =
                    ArrayPool<byte>.Shared.Rent(
                        Math.Max(Minimum, checked(Math.Max(Length + count, (int)Math.Min(2L * Bytes.Length, Array.MaxLength)))));
                Bytes.AsSpan(0, Length).CopyTo(larger);
                var old = Bytes;
                Bytes = larger;
                if (old.Length > 0)
                    ArrayPool<byte>.Shared.Return(old);
            }

            Invariant.Holds(Bytes.Length - Length >= count);
            return Bytes.AsMemory(Length);
        }

        internal void Reset()
        {
            var old = Bytes;
            Bytes = [];
            Length = 0;
            if (old.Length > 0)
                ArrayPool<byte>.Shared.Return(old);
        }
    }

    /// <summary>A part of a buffer.</summary>
    public readonly struct BufferSlice
    {
        public BufferSlice(in PooledBuffer buffer, int offset, int length)
        {
            ArgumentOutOfRangeException.ThrowIfNegative(offset);
            ArgumentOutOfRangeException.ThrowIfNegative(length);
            ArgumentOutOfRangeException.ThrowIfGreaterThan(length, buffer.Length - offset);
            Buffer = buffer;
            Offset = offset;
            Length = length;
        }

        public PooledBuffer Buffer { get; }

        public int Offset { get; }

        public int Length { get; }

        public MemoryEnumerator MemorySegments => new(this);

        internal ReadOnlyMemory<byte> Memory => Buffer.Memory.Slice(Offset, Length);

        internal ReadOnlySpan<byte> Span => Memory.Span;

        public BufferSlice Slice(int offset) => new(Buffer, Offset + offset, Length - offset);

        public BufferSlice Slice(int offset, int length)
        {
            ArgumentOutOfRangeException.ThrowIfGreaterThan(length, Length - offset);
            return new(Buffer, Offset + offset, length);
        }

        public byte[] ToArray() => Memory.ToArray();

        public int CopyTo(Span<byte> output)
        {
            var count = Math.Min(output.Length, Length);
            Span[..count].CopyTo(output);
            return count;
        }

        public void CopyTo(ref PooledBuffer output) => output.Write(Span);

        public void CopyTo<TBufferWriter>(ref TBufferWriter output)
            where TBufferWriter : struct, IBufferWriter<byte>
        {
            Span.CopyTo(output.GetSpan(Length));
            output.Advance(Length);
        }

        public SpanEnumerator GetEnumerator() => new(this);

        /// <summary>The memory of a slice.</summary>
        public struct MemoryEnumerator
        {
            private readonly BufferSlice _slice;
            private bool _isStarted;

            public MemoryEnumerator(BufferSlice slice) => _slice = slice;

            public readonly ReadOnlyMemory<byte> Current => _slice.Memory;

            public readonly MemoryEnumerator GetEnumerator() => this;

            public bool MoveNext() => !_isStarted && (_isStarted = true) && _slice.Length > 0;
        }

        /// <summary>The spans of a slice.</summary>
        public ref struct SpanEnumerator
        {
            private readonly BufferSlice _slice;
            private bool _isStarted;

            public SpanEnumerator(BufferSlice slice) => _slice = slice;

            public readonly ReadOnlySpan<byte> Current => _slice.Span;

            public readonly SpanEnumerator GetEnumerator() => this;

            public bool MoveNext() => !_isStarted && (_isStarted = true) && _slice.Length > 0;
        }
    }

    /// <summary>The memory of a buffer.</summary>
    public struct MemoryEnumerator
    {
        /// <summary>The current segment.</summary>
        public ReadOnlyMemory<byte> CurrentMemory;

        private readonly PooledBuffer _buffer;
        private bool _isStarted;

        public MemoryEnumerator(PooledBuffer buffer) => _buffer = buffer;

        public readonly ReadOnlyMemory<byte> Current => CurrentMemory;

        public readonly MemoryEnumerator GetEnumerator() => this;

        public bool MoveNext()
        {
            CurrentMemory = _buffer.Memory;
            return !_isStarted && (_isStarted = true) && _buffer.Length > 0;
        }
    }

    /// <summary>The spans of a buffer.</summary>
    public ref struct SpanEnumerator
    {
        private readonly ReadOnlySpan<byte> _span;
        private bool _isStarted;

        public SpanEnumerator(ref PooledBuffer buffer) => _span = buffer.Memory.Span;

        public readonly ReadOnlySpan<byte> Current => _span;

        public readonly SpanEnumerator GetEnumerator() => this;

        public bool MoveNext() => !_isStarted && (_isStarted = true) && !_span.IsEmpty;
    }
}

/// <summary>Enumerates a buffer by reference.</summary>
public static class PooledBufferExtensions
{
    public static PooledBuffer.SpanEnumerator GetEnumerator(this ref PooledBuffer buffer) => new(ref buffer);
}
