using System.Buffers.Binary;
using System.Runtime.CompilerServices;
using System.Text;

namespace ActOp.Wire;

/// <summary>Writes wire primitives into a <see cref="WireBuffer"/>. Little endian; varints are LEB128.</summary>
public ref struct WireWriter
{
    private readonly WireBuffer _buffer;
    private Span<byte> _span;
    private int _position;

    /// <summary>Writes after what <paramref name="buffer"/> holds.</summary>
    public WireWriter(WireBuffer buffer, WireSession session)
    {
        _buffer = buffer;
        _span = buffer.Array;
        _position = buffer.Length;
        Session = session;
    }

    /// <summary>References seen so far and what binds grain references.</summary>
    public WireSession Session { get; }

    /// <summary>Bytes written so far, those that the buffer held before included.</summary>
    public readonly int Position => _position;

    /// <summary>Stores the length in the buffer; call once at the end.</summary>
    public readonly void Commit() => _buffer.Length = _position;

    /// <summary>One byte.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public void WriteByte(byte value)
    {
        Ensure(1);
        _span[_position++] = value;
    }

    /// <summary>1 to 5 bytes.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public void WriteVarUInt32(uint value)
    {
        if (value < 0x80)
            WriteByte((byte)value);
        else
            WriteLong32(value);
    }

    private void WriteLong32(uint value)
    {
        Ensure(5);
        while (value >= 0x80)
        {
            _span[_position++] = (byte)(value | 0x80);
            value >>= 7;
        }

        _span[_position++] = (byte)value;
    }

    /// <summary>1 to 10 bytes.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public void WriteVarUInt64(ulong value)
    {
        if (value < 0x80)
            WriteByte((byte)value);
        else
            WriteLong64(value);
    }

    private void WriteLong64(ulong value)
    {
        Ensure(10);
        while (value >= 0x80)
        {
            _span[_position++] = (byte)(value | 0x80);
            value >>= 7;
        }

        _span[_position++] = (byte)value;
    }

    /// <summary>Zigzag varint.</summary>
    public void WriteVarInt32(int value) => WriteVarUInt32((uint)((value << 1) ^ (value >> 31)));

    /// <summary>Zigzag varint.</summary>
    public void WriteVarInt64(long value) => WriteVarUInt64((ulong)((value << 1) ^ (value >> 63)));

    /// <summary>The tag before a member: the distance to the member before it, and the kind of the value.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public void WriteTag(uint delta, WireKind kind)
    {
        if (delta < 16)
            WriteByte((byte)((delta << 3) | (uint)kind));
        else
            WriteVarUInt64(((ulong)delta << 3) | (ulong)kind);
    }

    /// <summary>The end of the members of one type.</summary>
    public void WriteEnd() => WriteByte((byte)WireKind.End);

    /// <summary>4 bytes.</summary>
    public void WriteFixed32(uint value)
    {
        Ensure(4);
        BinaryPrimitives.WriteUInt32LittleEndian(_span[_position..], value);
        _position += 4;
    }

    /// <summary>8 bytes.</summary>
    public void WriteFixed64(ulong value)
    {
        Ensure(8);
        BinaryPrimitives.WriteUInt64LittleEndian(_span[_position..], value);
        _position += 8;
    }

    /// <summary>16 bytes.</summary>
    public void WriteGuid(Guid value)
    {
        Ensure(16);
        value.TryWriteBytes(_span[_position..]);
        _position += 16;
    }

    /// <summary>The bytes as they are, without a length.</summary>
    public void WriteRaw(scoped ReadOnlySpan<byte> bytes)
    {
        Ensure(bytes.Length);
        bytes.CopyTo(_span[_position..]);
        _position += bytes.Length;
    }

    /// <summary>A varint length, then the bytes.</summary>
    public void WriteBytes(scoped ReadOnlySpan<byte> bytes)
    {
        WriteVarUInt32((uint)bytes.Length);
        WriteRaw(bytes);
    }

    /// <summary>A varint length in bytes, then UTF-8.</summary>
    public void WriteString(string value)
    {
        var length = Encoding.UTF8.GetByteCount(value);
        WriteVarUInt32((uint)length);
        Ensure(length);
        _position += Encoding.UTF8.GetBytes(value, _span[_position..]);
    }

    /// <summary>A varint length in bytes plus one, then UTF-8; 0 for null.</summary>
    public void WriteNullableString(string? value)
    {
        if (value is null)
        {
            WriteByte(0);
            return;
        }

        var length = Encoding.UTF8.GetByteCount(value);
        WriteVarUInt32((uint)length + 1);
        Ensure(length);
        _position += Encoding.UTF8.GetBytes(value, _span[_position..]);
    }

    /// <summary>Leaves 4 bytes free for a length that <see cref="EndLength"/> fills in; returns their place.</summary>
    public int BeginLength()
    {
        Ensure(4);
        var at = _position;
        _position += 4;
        return at;
    }

    /// <summary>Fills in the number of bytes written since <see cref="BeginLength"/>.</summary>
    public readonly void EndLength(int at)
    {
        Invariant.Holds(at >= 0 && _position - at >= 4);
        BinaryPrimitives.WriteUInt32LittleEndian(_span[at..], (uint)(_position - at - 4));
    }

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private void Ensure(int count)
    {
        if (_span.Length - _position < count)
            Grow(count);
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private void Grow(int count)
    {
        _buffer.Length = _position;
        _buffer.Grow(count);
        _span = _buffer.Array;
    }
}

/// <summary>A growing byte array that is kept and used again; one thread at a time.</summary>
public sealed class WireBuffer
{
    /// <summary>
    /// Arrays above this are given up after use, so that one large message does not stay in memory; until a collection takes it, the last
    /// one serves the next large message.
    /// </summary>
    private const int KeptBytes = 1 << 20;

    private WeakReference<byte[]>? _givenUp;

    /// <summary>Creates a buffer of <paramref name="capacity"/> bytes.</summary>
    public WireBuffer(int capacity = 1024) => Array = new byte[capacity];

    /// <summary>The bytes; the first <see cref="Length"/> are written.</summary>
    public byte[] Array { get; private set; }

    /// <summary>Bytes written.</summary>
    public int Length { get; internal set; }

    /// <summary>What was written.</summary>
    public ReadOnlySpan<byte> Written => Array.AsSpan(0, Length);

    /// <summary>Forgets what was written.</summary>
    public void Clear()
    {
        Length = 0;
        if (Array.Length <= KeptBytes)
            return;
        _givenUp = new WeakReference<byte[]>(Array);
        Array = new byte[1024];
    }

    /// <summary>Makes room for <paramref name="count"/> more bytes.</summary>
    internal void Grow(int count)
    {
        var needed = checked(Length + count);
        if (_givenUp is not null && _givenUp.TryGetTarget(out var last) && last.Length >= needed)
        {
            _givenUp = null;
            Written.CopyTo(last);
            Array = last;
        }
        else
        {
            var array = Array;
            System.Array.Resize(ref array, Math.Max(needed, (int)Math.Min(2L * array.Length, System.Array.MaxLength)));
            Array = array;
        }

        Invariant.Holds(Array.Length - Length >= count);
    }
}
