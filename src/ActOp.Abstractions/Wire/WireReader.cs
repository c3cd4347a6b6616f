using System.Buffers.Binary;
using System.Runtime.CompilerServices;
using System.Text;

namespace ActOp.Wire;

/// <summary>Reads wire primitives. What does not fit the data throws <see cref="Orleans.Serialization.SerializerException"/>.</summary>
public ref struct WireReader
{
    private readonly ReadOnlySpan<byte> _span;
    private int _position;

    /// <summary>Reads <paramref name="span"/> from its start.</summary>
    public WireReader(ReadOnlySpan<byte> span, WireSession session)
    {
        _span = span;
        Session = session;
    }

    /// <summary>References seen so far and what binds grain references.</summary>
    public WireSession Session { get; }

    /// <summary>Bytes read so far.</summary>
    public int Position
    {
        readonly get => _position;
        set => _position = (uint)value <= (uint)_span.Length ? value : throw Short();
    }

    /// <summary>Bytes left.</summary>
    public readonly int Remaining => _span.Length - _position;

    /// <summary>One byte.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public byte ReadByte()
    {
        if ((uint)_position >= (uint)_span.Length)
            ThrowShort();
        return _span[_position++];
    }

    /// <summary>1 to 5 bytes.</summary>
    public uint ReadVarUInt32()
    {
        var value = ReadVarUInt64();
        if (value > uint.MaxValue)
            ThrowTooLarge(value);
        return (uint)value;
    }

    /// <summary>1 to 10 bytes.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public ulong ReadVarUInt64()
    {
        var position = _position;
        if ((uint)position < (uint)_span.Length && _span[position] < 0x80)
        {
            _position = position + 1;
            return _span[position];
        }

        return ReadLong();
    }

    private ulong ReadLong()
    {
        var first = ReadByte();
        ulong value = first & 0x7Fu;
        if (first < 0x80)
            return value;
        for (var shift = 7; shift < 70; shift += 7)
        {
            var next = ReadByte();
            value |= (ulong)(next & 0x7F) << shift;
            if (next < 0x80)
                return value;
        }

        throw new Orleans.Serialization.SerializerException("A number in the message is longer than 10 bytes.");
    }

    /// <summary>Zigzag varint.</summary>
    public int ReadVarInt32()
    {
        var value = ReadVarUInt32();
        return (int)(value >> 1) ^ -(int)(value & 1);
    }

    /// <summary>Zigzag varint.</summary>
    public long ReadVarInt64()
    {
        var value = ReadVarUInt64();
        return (long)(value >> 1) ^ -(long)(value & 1);
    }

    /// <summary>Reads a tag; false at the end of the members of one type.</summary>
    /// <param name="id">The id of the member before, plus one, on entry and of this one on return; 0 at first.</param>
    /// <param name="kind">How the value was written.</param>
    public bool ReadTag(ref uint id, out WireKind kind)
    {
        var tag = ReadVarUInt64();
        kind = (WireKind)(tag & 7);
        if (kind == WireKind.End)
            return false;
        var next = id + (tag >> 3);
        if (next > uint.MaxValue || next == id)
            throw new Orleans.Serialization.SerializerException("The ids of members in the message are not in ascending order.");
        id = (uint)next;
        return true;
    }

    /// <summary>Skips a member that is not known here.</summary>
    public void Skip(WireKind kind)
    {
        var start = _position;
        switch (kind)
        {
            case WireKind.Varint:
                ReadVarUInt64();
                break;
            case WireKind.Fixed32:
                ReadRaw(4);
                break;
            case WireKind.Fixed64:
                ReadRaw(8);
                break;
            case WireKind.Fixed128:
                ReadRaw(16);
                break;
            case WireKind.Bytes:
                ReadBytes();
                break;
            case WireKind.Block:
                _position = ReadLengthEnd();
                Session.AddSkipped(start, _position);
                break;
        }
    }

    /// <summary>
    /// The number of items that follow, each of at least <paramref name="minimum"/> bytes; checked against the bytes left.
    /// </summary>
    public int ReadCount(int minimum = 1)
    {
        var count = ReadVarUInt32();
        return (ulong)count * (ulong)minimum <= (ulong)Remaining ? (int)count : throw Short();
    }

    /// <summary>4 bytes.</summary>
    public uint ReadFixed32() => BinaryPrimitives.ReadUInt32LittleEndian(ReadRaw(4));

    /// <summary>8 bytes.</summary>
    public ulong ReadFixed64() => BinaryPrimitives.ReadUInt64LittleEndian(ReadRaw(8));

    /// <summary>16 bytes.</summary>
    public Guid ReadGuid() => new(ReadRaw(16));

    /// <summary>The next <paramref name="count"/> bytes, in place.</summary>
    public ReadOnlySpan<byte> ReadRaw(int count)
    {
        if ((uint)count > (uint)(_span.Length - _position))
            throw Short();
        var bytes = _span.Slice(_position, count);
        _position += count;
        return bytes;
    }

    /// <summary>A varint length, then the bytes, in place.</summary>
    public ReadOnlySpan<byte> ReadBytes() => ReadRaw((int)Math.Min(ReadVarUInt32(), int.MaxValue));

    /// <summary>A varint length in bytes, then UTF-8.</summary>
    public string ReadString() => Encoding.UTF8.GetString(ReadBytes());

    /// <summary>What <see cref="WireWriter.WriteNullableString"/> wrote.</summary>
    public string? ReadNullableString()
    {
        var length = ReadVarUInt32();
        return length == 0 ? null : Encoding.UTF8.GetString(ReadRaw((int)Math.Min(length - 1, int.MaxValue)));
    }

    /// <summary>The place where a value whose length was written by <see cref="WireWriter.BeginLength"/> ends.</summary>
    public int ReadLengthEnd()
    {
        var length = ReadFixed32();
        if (length > (uint)Remaining)
            throw Short();
        return _position + (int)length;
    }

    /// <summary>The error for a member that was written as something else.</summary>
    internal static Orleans.Serialization.SerializerException WrongKind(WireKind kind, Type type) =>
        new("A member of type " + type + " was written as " + kind + ".");

    private static void ThrowTooLarge(ulong value) =>
        throw new Orleans.Serialization.SerializerException("A 32-bit number in the message is too large: " + value + ".");

    private readonly void ThrowShort() => throw Short();

    private readonly Orleans.Serialization.SerializerException Short() =>
        new("The data ends early: " + _span.Length + " bytes, read up to " + _position + ".");
}
