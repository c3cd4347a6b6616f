using System.Buffers;
using System.Collections;
using ActOp;

namespace Orleans.Serialization.Buffers;

/// <summary>
/// Memory that several slices share. It is given back to the pool when nothing has it pinned any more; a slice that was given back must not
/// be used. Pins may be taken and given back by any thread.
/// </summary>
public sealed class ArcBufferPage
{
    private int _pins;

    internal ArcBufferPage(int size) => Array = ArrayPool<byte>.Shared.Rent(size);

    /// <summary>The memory; empty when it was given back.</summary>
    internal byte[] Array { get; private set; }

    internal int Length { get; set; }

    internal ArcBufferPage? Next { get; set; }

    internal int ReferenceCount => Volatile.Read(ref _pins);

    internal void Pin()
    {
        Invariant.Holds(Array.Length > 0);
        Interlocked.Increment(ref _pins);
    }

    internal void Unpin()
    {
        var left = Interlocked.Decrement(ref _pins);
        Invariant.Holds(left >= 0);
        if (left != 0)
            return;
        var array = Array;
        Array = [];
        Next = null;
        ArrayPool<byte>.Shared.Return(array);
    }
}

/// <summary>A pinned part of what an <see cref="ArcBufferWriter"/> holds; <see cref="Dispose"/> gives it back.</summary>
public struct ArcBuffer : IDisposable
{
    /// <summary>The first page.</summary>
    public readonly ArcBufferPage First;

    /// <summary>Where it begins in the first page.</summary>
    public readonly int Offset;

    /// <summary>Its length.</summary>
    public readonly int Length;

    private bool _isReturned;

    public ArcBuffer(ArcBufferPage first, int token, int offset, int length)
    {
        First = first;
        Offset = offset;
        Length = length;
    }

    public readonly ArraySegmentEnumerator ArraySegments => new(this);

    public readonly MemoryEnumerator MemorySegments => new(this);

    public readonly SpanEnumerator SpanSegments => new(this);

    public readonly ReadOnlySequence<byte> AsReadOnlySequence() => new(ToArray());

    public readonly byte[] ToArray()
    {
        var result = new byte[Length];
        CopyTo(result);
        return result;
    }

    public readonly int CopyTo(Span<byte> output)
    {
        var copied = 0;
        foreach (var segment in this)
        {
            var part = segment[..Math.Min(segment.Length, output.Length - copied)];
            part.CopyTo(output[copied..]);
            copied += part.Length;
        }

        return copied;
    }

    public readonly void CopyTo(ArcBufferWriter output)
    {
        foreach (var segment in this)
            output.Write(segment);
    }

    public readonly void CopyTo<TBufferWriter>(ref TBufferWriter output)
        where TBufferWriter : IBufferWriter<byte>
    {
        foreach (var segment in this)
        {
            segment.CopyTo(output.GetSpan(segment.Length));
            output.Advance(segment.Length);
        }
    }

    public readonly ArcBuffer Slice(int offset) => Slice(offset, Length - offset);

    /// <summary>A part that is pinned itself.</summary>
    public readonly ArcBuffer Slice(int offset, int length)
    {
        var slice = UnsafeSlice(offset, length);
        slice.Pin();
        return slice;
    }

    public readonly ArcBuffer UnsafeSlice(int offset, int length)
    {
        ArgumentOutOfRangeException.ThrowIfNegative(offset);
        ArgumentOutOfRangeException.ThrowIfNegative(length);
        ArgumentOutOfRangeException.ThrowIfGreaterThan(length, Length - offset);
        var (page, at) = (First, Offset + offset);
        while (at >= page.Length && page.Next is { } next)
        {
            at -= page.Length;
            page = next;
        }

        return new ArcBuffer(page, 0, at, length);
    }

    public readonly void Pin()
    {
        foreach (var page in Pages())
            page.Pin();
    }

    public void Unpin()
    {
        if (_isReturned || First is null)
            return;
        _isReturned = true;
        foreach (var page in Pages())
            page.Unpin();
    }

    public void Dispose() => Unpin();

    public readonly SpanEnumerator GetEnumerator() => new(this);

    private readonly ArcBufferPage[] Pages()
    {
        var pages = new List<ArcBufferPage>();
        var left = Length;
        var at = Offset;
        for (var page = First; page is not null && (left > 0 || pages.Count == 0); page = page.Next)
        {
            pages.Add(page);
            left -= page.Length - at;
            at = 0;
        }

        return [.. pages];
    }

    /// <summary>A part of one page.</summary>
    public readonly struct PageSegment
    {
        public readonly ArcBufferPage Page;
        public readonly int Offset;
        public readonly int Length;

        public PageSegment(ArcBufferPage page, int offset, int length)
        {
            Page = page;
            Offset = offset;
            Length = length;
        }

        public ReadOnlySpan<byte> Span => Page.Array.AsSpan(Offset, Length);

        public ReadOnlyMemory<byte> Memory => Page.Array.AsMemory(Offset, Length);

        public ArraySegment<byte> ArraySegment => new(Page.Array, Offset, Length);
    }

    /// <summary>Goes through the pages.</summary>
    internal struct PageEnumerator
    {
        private ArcBufferPage? _page;
        private int _offset;
        private int _left;

        internal PageEnumerator(in ArcBuffer slice)
        {
            _page = slice.First;
            _offset = slice.Offset;
            _left = slice.Length;
        }

        internal PageSegment Current { get; private set; }

        internal readonly bool IsCompleted => _left == 0;

        internal bool MoveNext()
        {
            while (_left > 0 && _page is { } page)
            {
                var count = Math.Min(page.Length - _offset, _left);
                var at = _offset;
                (_page, _offset) = (page.Next, 0);
                if (count <= 0)
                    continue;
                Current = new PageSegment(page, at, count);
                _left -= count;
                return true;
            }

            return false;
        }
    }

    /// <summary>The spans of a buffer.</summary>
    public ref struct SpanEnumerator
    {
        private PageEnumerator _pages;

        public SpanEnumerator(ArcBuffer slice) => _pages = new PageEnumerator(slice);

        public readonly ReadOnlySpan<byte> Current => _pages.Current.Span;

        public readonly SpanEnumerator GetEnumerator() => this;

        public bool MoveNext() => _pages.MoveNext();
    }

    /// <summary>The memory of a buffer.</summary>
    public struct MemoryEnumerator : IEnumerable<ReadOnlyMemory<byte>>, IEnumerator<ReadOnlyMemory<byte>>
    {
        private PageEnumerator _pages;

        public MemoryEnumerator(ArcBuffer slice) => _pages = new PageEnumerator(slice);

        public readonly ReadOnlyMemory<byte> Current => _pages.Current.Memory;

        readonly object IEnumerator.Current => Current;

        public readonly MemoryEnumerator GetEnumerator() => this;

        readonly IEnumerator<ReadOnlyMemory<byte>> IEnumerable<ReadOnlyMemory<byte>>.GetEnumerator() => this;

        readonly IEnumerator IEnumerable.GetEnumerator() => this;

        public bool MoveNext() => _pages.MoveNext();

        readonly void IEnumerator.Reset() => throw new NotSupportedException();

        readonly void IDisposable.Dispose()
        {
        }
    }

    /// <summary>The arrays of a buffer.</summary>
    public struct ArraySegmentEnumerator : IEnumerable<ArraySegment<byte>>, IEnumerator<ArraySegment<byte>>
    {
        private PageEnumerator _pages;

        public ArraySegmentEnumerator(ArcBuffer slice) => _pages = new PageEnumerator(slice);

        public readonly ArraySegment<byte> Current => _pages.Current.ArraySegment;

        public readonly bool IsCompleted => _pages.IsCompleted;

        readonly object IEnumerator.Current => Current;

        public readonly ArraySegmentEnumerator GetEnumerator() => this;

        readonly IEnumerator<ArraySegment<byte>> IEnumerable<ArraySegment<byte>>.GetEnumerator() => this;

        readonly IEnumerator IEnumerable.GetEnumerator() => this;

        public bool MoveNext() => _pages.MoveNext();

        readonly void IEnumerator.Reset() => throw new NotSupportedException();

        readonly void IDisposable.Dispose()
        {
        }
    }
}

/// <summary>Writes into shared pages, and reads what was written. One thread at a time; slices may live longer.</summary>
public sealed class ArcBufferWriter : IBufferWriter<byte>, IDisposable
{
    public const int MinimumPageSize = 1024;

    private const int PageSize = 16 * 1024;

    private ArcBufferPage _first;
    private ArcBufferPage _last;
    private int _read;
    private bool _isDisposed;

    public ArcBufferWriter() => _first = _last = NewPage(PageSize);

    /// <summary>Bytes that were written and not read.</summary>
    public int Length { get; private set; }

    public ArcBufferReader Reader => new(this);

    public void AdvanceWriter(int count)
    {
        ArgumentOutOfRangeException.ThrowIfNegative(count);
        ArgumentOutOfRangeException.ThrowIfGreaterThan(count, _last.Array.Length - _last.Length);
        _last.Length += count;
        Length += count;
    }

    void IBufferWriter<byte>.Advance(int count) => AdvanceWriter(count);

    public Memory<byte> GetMemory(int sizeHint = 0)
    {
        ObjectDisposedException.ThrowIf(_isDisposed, this);
        if (_last.Array.Length - _last.Length < Math.Max(1, sizeHint))
            Append(NewPage(Math.Max(sizeHint, PageSize)));
        return _last.Array.AsMemory(_last.Length);
    }

    public Span<byte> GetSpan(int sizeHint = 0) => GetMemory(sizeHint).Span;

    public void Write(ReadOnlySpan<byte> value)
    {
        value.CopyTo(GetSpan(value.Length));
        AdvanceWriter(value.Length);
    }

    public void Write(ReadOnlySequence<byte> input)
    {
        foreach (var segment in input)
            Write(segment.Span);
    }

    /// <summary>Writes over bytes that were written and not read.</summary>
    public void WriteAt(int offset, ReadOnlySpan<byte> value)
    {
        ArgumentOutOfRangeException.ThrowIfGreaterThan(value.Length, Length - offset);
        foreach (var segment in Unread(offset, value.Length).ArraySegments)
        {
            value[..segment.Count].CopyTo(segment);
            value = value[segment.Count..];
        }
    }

    /// <summary>Appends a copy of a buffer and gives the buffer back.</summary>
    public void AppendPinned(ArcBuffer input)
    {
        input.CopyTo(this);
        input.Dispose();
    }

    /// <summary>Cuts what was written and not read.</summary>
    public void Truncate(int length)
    {
        ArgumentOutOfRangeException.ThrowIfNegative(length);
        ArgumentOutOfRangeException.ThrowIfGreaterThan(length, Length);
        var kept = new byte[length];
        Peek(kept);
        Reset();
        Write(kept);
    }

    /// <summary>A pinned slice of the next bytes, which stay unread.</summary>
    public ArcBuffer PeekSlice(int count)
    {
        var slice = Unread(0, count);
        slice.Pin();
        return slice;
    }

    /// <summary>A pinned slice of the next bytes.</summary>
    public ArcBuffer ConsumeSlice(int count)
    {
        var slice = PeekSlice(count);
        AdvanceReader(count);
        return slice;
    }

    public int Peek(Span<byte> output) => Unread(0, Math.Min(output.Length, Length)).CopyTo(output);

    /// <summary>The next bytes, in place if they lie in one page.</summary>
    public ReadOnlySpan<byte> Peek(scoped in Span<byte> destination)
    {
        var result = new byte[Math.Min(destination.Length, Length)];
        Peek(result);
        result.CopyTo(destination);
        return result;
    }

    public void AdvanceReader(int count)
    {
        ArgumentOutOfRangeException.ThrowIfNegative(count);
        ArgumentOutOfRangeException.ThrowIfGreaterThan(count, Length);
        Length -= count;
        _read += count;
        while (_read >= _first.Length && _first.Next is { } next)
        {
            _read -= _first.Length;
            var done = _first;
            _first = next;
            done.Unpin();
        }

        Invariant.Holds(_read <= _first.Length);
    }

    /// <summary>Appends segments to write into, for a read of a socket.</summary>
    public void ReplenishBuffers(List<ArraySegment<byte>> buffers)
    {
        var memory = GetMemory(MinimumPageSize);
        buffers.Add(new ArraySegment<byte>(_last.Array, _last.Length, memory.Length));
    }

    public void Reset()
    {
        ObjectDisposedException.ThrowIf(_isDisposed, this);
        Release();
        _first = _last = NewPage(PageSize);
        Length = _read = 0;
    }

    public void Dispose()
    {
        if (_isDisposed)
            return;
        _isDisposed = true;
        Release();
        Length = _read = 0;
    }

    private ArcBuffer Unread(int offset, int count)
    {
        ArgumentOutOfRangeException.ThrowIfNegative(count);
        ArgumentOutOfRangeException.ThrowIfGreaterThan(count, Length - offset);
        return new ArcBuffer(_first, 0, _read, Length).UnsafeSlice(offset, count);
    }

    private void Release()
    {
        for (var page = _first; page is not null;)
        {
            var next = page.Next;
            page.Unpin();
            page = next;
        }
    }

    private void Append(ArcBufferPage page)
    {
        Invariant.Holds(_last.Next is null);
        _last.Next = page;
        _last = page;
    }

    private static ArcBufferPage NewPage(int size)
    {
        var page = new ArcBufferPage(Math.Max(size, MinimumPageSize));
        page.Pin();
        return page;
    }
}

/// <summary>Reads what a writer of shared pages holds.</summary>
public readonly struct ArcBufferReader
{
    private readonly ArcBufferWriter _writer;

    internal ArcBufferReader(ArcBufferWriter writer) => _writer = writer;

    public int Length => _writer.Length;

    public ReadOnlySpan<byte> Peek(scoped in Span<byte> destination) => _writer.Peek(in destination);

    public byte Peek(long offset)
    {
        using var slice = _writer.PeekSlice(checked((int)offset + 1));
        return slice.ToArray()[^1];
    }

    public ArcBuffer PeekSlice(int count) => _writer.PeekSlice(count);

    public ArcBuffer ConsumeSlice(int count) => _writer.ConsumeSlice(count);

    public void Skip(int count) => _writer.AdvanceReader(count);

    public void Consume(Span<byte> output)
    {
        ArgumentOutOfRangeException.ThrowIfGreaterThan(output.Length, Length);
        _writer.Peek(output);
        _writer.AdvanceReader(output.Length);
    }

    public bool IsNext(ReadOnlySpan<byte> next, bool advancePast = false)
    {
        if (next.Length > Length)
            return false;
        var found = new byte[next.Length];
        _writer.Peek(found.AsSpan());
        if (!next.SequenceEqual(found))
            return false;
        if (advancePast)
            Skip(next.Length);
        return true;
    }

    public bool TryReadTo(out ArcBuffer slice, byte delimiter, bool advancePastDelimiter = true)
    {
        using var all = _writer.PeekSlice(Length);
        var at = all.ToArray().AsSpan().IndexOf(delimiter);
        slice = at < 0 ? default : _writer.ConsumeSlice(at);
        if (at >= 0 && advancePastDelimiter)
            Skip(1);
        return at >= 0;
    }
}

/// <summary>A writer of shared pages as a struct.</summary>
public readonly struct ArcBufferWriterWrapper : IBufferWriter<byte>
{
    private readonly ArcBufferWriter _writer;

    public ArcBufferWriterWrapper(ArcBufferWriter bufferWriter) => _writer = bufferWriter;

    public readonly void Advance(int count) => _writer.AdvanceWriter(count);

    public readonly Memory<byte> GetMemory(int sizeHint = 0) => _writer.GetMemory(sizeHint);

    public readonly Span<byte> GetSpan(int sizeHint = 0) => _writer.GetSpan(sizeHint);
}
