using System.Buffers;
using System.Buffers.Binary;
using System.Numerics;
using System.Runtime.CompilerServices;
using Orleans.Serialization.Buffers.Adaptors;
using Orleans.Serialization.Session;
using Orleans.Serialization.WireProtocol;

namespace Orleans.Serialization.Buffers;

/// <summary>A source of bytes that is not in memory.</summary>
public abstract class ReaderInput
{
    public abstract long Position { get; }

    public abstract long Length { get; }

    public abstract void Skip(long count);

    public abstract void Seek(long position);

    public abstract byte ReadByte();

    public abstract uint ReadUInt32();

    public abstract ulong ReadUInt64();

    public abstract void ReadBytes(Span<byte> destination);

    public abstract void ReadBytes(byte[] destination, int offset, int length);

    public abstract bool TryReadBytes(int length, out ReadOnlySpan<byte> bytes);
}

/// <summary>Reads from a stream, which must be able to seek when a codec refers back to a field that was skipped.</summary>
internal sealed class StreamReaderInput(Stream stream) : ReaderInput
{
    public override long Position => stream.Position;

    public override long Length => stream.Length;

    public override void Skip(long count)
    {
        if (count < 0 || count > stream.Length - stream.Position)
            throw Short();
        stream.Seek(count, SeekOrigin.Current);
    }

    public override void Seek(long position) => stream.Position = position;

    public override byte ReadByte() => stream.ReadByte() is >= 0 and var value ? (byte)value : throw Short();

    public override uint ReadUInt32()
    {
        Span<byte> bytes = stackalloc byte[4];
        ReadBytes(bytes);
        return BinaryPrimitives.ReadUInt32LittleEndian(bytes);
    }

    public override ulong ReadUInt64()
    {
        Span<byte> bytes = stackalloc byte[8];
        ReadBytes(bytes);
        return BinaryPrimitives.ReadUInt64LittleEndian(bytes);
    }

    public override void ReadBytes(Span<byte> destination)
    {
        if (stream.ReadAtLeast(destination, destination.Length, throwOnEndOfStream: false) < destination.Length)
            throw Short();
    }

    public override void ReadBytes(byte[] destination, int offset, int length) => ReadBytes(destination.AsSpan(offset, length));

    public override bool TryReadBytes(int length, out ReadOnlySpan<byte> bytes)
    {
        bytes = default;
        return false;
    }

    private static SerializerException Short() => new("The data ends early: Insufficient data present in buffer.");
}

/// <summary>Marks a reader of a sequence.</summary>
public struct ReadOnlySequenceInput
{
}

/// <summary>Marks a reader of a span.</summary>
public struct SpanReaderInput
{
}

/// <summary>Creates readers for an application's codecs.</summary>
public static class Reader
{
    public static Reader<ReaderInput> Create(Stream stream, SerializerSession session) => new(new StreamReaderInput(stream), session);

    public static Reader<ReadOnlySequenceInput> Create(ReadOnlySequence<byte> sequence, SerializerSession session) =>
        new(sequence.IsSingleSegment ? sequence.FirstSpan : sequence.ToArray(), session);

    public static Reader<SpanReaderInput> Create(ReadOnlySpan<byte> buffer, SerializerSession session) => new(buffer, session);

    public static Reader<SpanReaderInput> Create(byte[] buffer, SerializerSession session) => new(buffer, session);

    public static Reader<SpanReaderInput> Create(ReadOnlyMemory<byte> buffer, SerializerSession session) => new(buffer.Span, session);

    public static Reader<ArcBufferReaderInput> Create(ArcBuffer input, SerializerSession session) => new(input.ToArray(), session);

    public static Reader<BufferSliceReaderInput> Create(PooledBuffer input, SerializerSession session) => Create(input.Slice(), session);

    public static Reader<BufferSliceReaderInput> Create(PooledBuffer.BufferSlice input, SerializerSession session) =>
        new(input.Span, session);

    /// <summary>How many bytes a number has whose first byte is this; 9 for more than 8.</summary>
    public static int GetVarIntByteCount(byte firstByte) => BitOperations.TrailingZeroCount(0x100U | firstByte) + 1;
}

/// <summary>Reads the fields of an application's codecs; what does not fit the data throws <see cref="SerializerException"/>.</summary>
/// <typeparam name="TInput">Where from.</typeparam>
public ref struct Reader<TInput>
{
    private readonly ReadOnlySpan<byte> _span;
    private readonly ReaderInput? _input;
    private int _position;

    internal Reader(ReadOnlySpan<byte> span, SerializerSession session)
    {
        _span = span;
        Session = session;
    }

    internal Reader(ReaderInput input, SerializerSession session)
    {
        _input = input;
        Session = session;
    }

    public SerializerSession Session { get; }

    public readonly long Position => _input is null ? _position : _input.Position;

    public readonly long Length => _input is null ? _span.Length : _input.Length;

    public readonly long Remaining => Length - Position;

    /// <summary>A reader of the same data at another place.</summary>
    public readonly void ForkFrom(long position, out Reader<TInput> forked)
    {
        forked = this;
        forked.Seek(position);
    }

    /// <summary>Goes on at that place, after a fork was used.</summary>
    public void ResumeFrom(long position) => Seek(position);

    public void Skip(long count)
    {
        if (_input is not null)
        {
            _input.Skip(count);
            return;
        }

        if (count < 0 || count > _span.Length - _position)
            ThrowShort();
        _position += (int)count;
    }

    public readonly void EnsureAvailable(uint count)
    {
        if (count > Remaining)
            ThrowShort();
    }

    public byte PeekByte()
    {
        if (_input is null)
            return _position < _span.Length ? _span[_position] : ThrowShort();
        var value = _input.ReadByte();
        _input.Seek(_input.Position - 1);
        return value;
    }

    public byte ReadByte()
    {
        if (_input is not null)
            return _input.ReadByte();
        return _position < _span.Length ? _span[_position++] : ThrowShort();
    }

    public int ReadInt32() => (int)ReadUInt32();

    public long ReadInt64() => (long)ReadUInt64();

    public uint ReadUInt32() => _input is not null ? _input.ReadUInt32() : BinaryPrimitives.ReadUInt32LittleEndian(TakeBytes(4));

    public ulong ReadUInt64() => _input is not null ? _input.ReadUInt64() : BinaryPrimitives.ReadUInt64LittleEndian(TakeBytes(8));

    public byte[] ReadBytes(uint count)
    {
        if (count == 0)
            return [];
        EnsureAvailable(count);
        var bytes = new byte[count];
        ReadBytes(bytes);
        return bytes;
    }

    public void ReadBytes(scoped Span<byte> destination)
    {
        if (_input is not null)
            _input.ReadBytes(destination);
        else
            TakeBytes(destination.Length).CopyTo(destination);
    }

    public void ReadBytes<TBufferWriter>(scoped ref TBufferWriter writer, int count)
        where TBufferWriter : IBufferWriter<byte>
    {
        EnsureAvailable((uint)count);
        ReadBytes(writer.GetSpan(count)[..count]);
        writer.Advance(count);
    }

    public bool TryReadBytes(int length, out ReadOnlySpan<byte> bytes)
    {
        if (_input is not null)
            return _input.TryReadBytes(length, out bytes);
        if ((uint)length > (uint)(_span.Length - _position))
        {
            bytes = default;
            return false;
        }

        bytes = TakeBytes(length);
        return true;
    }

    /// <exception cref="OverflowException">The number is longer.</exception>
    public uint ReadVarUInt32() => checked((uint)ReadVarUInt64());

    public ulong ReadVarUInt64()
    {
        var first = ReadByte();
        if (first != 0)
        {
            var count = BitOperations.TrailingZeroCount((uint)first) + 1;
            ulong value = first;
            for (var i = 1; i < count; i++)
                value |= (ulong)ReadByte() << (8 * i);
            return value >> count;
        }

        var second = ReadByte();
        var more = (second & 1) != 0
            ? 9 : (second & 2) != 0 ? 10 : throw new SerializerException("A number in the data is longer than 10 bytes.");
        var low = (ulong)second << 8;
        for (var i = 2; i < 8; i++)
            low |= (ulong)ReadByte() << (8 * i);
        ulong high = 0;
        for (var i = 8; i < more; i++)
            high |= (ulong)ReadByte() << (8 * (i - 8));
        if (high >> more != 0)
            throw new OverflowException("A number in the data is longer than 64 bits.");
        return (low >> more) | (high << (64 - more));
    }

    private void Seek(long position)
    {
        if (_input is not null)
        {
            _input.Seek(position);
            return;
        }

        if ((ulong)position > (ulong)_span.Length)
            ThrowShort();
        _position = (int)position;
    }

    private ReadOnlySpan<byte> TakeBytes(int count)
    {
        if ((uint)count > (uint)(_span.Length - _position))
            ThrowShort();
        var bytes = _span.Slice(_position, count);
        _position += count;
        return bytes;
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static byte ThrowShort() => throw new SerializerException("The data ends early: Insufficient data present in buffer.");
}

/// <summary>
/// Reads numbers in the way in which their fields were written; those that do not fit throw <see cref="OverflowException"/>.
/// </summary>
public static class VarIntReaderExtensions
{
    public static sbyte ReadVarInt8<TInput>(this ref Reader<TInput> reader) => checked((sbyte)ReadVarInt64(ref reader));

    public static short ReadVarInt16<TInput>(this ref Reader<TInput> reader) => checked((short)ReadVarInt64(ref reader));

    public static int ReadVarInt32<TInput>(this ref Reader<TInput> reader) => checked((int)ReadVarInt64(ref reader));

    public static long ReadVarInt64<TInput>(this ref Reader<TInput> reader)
    {
        var value = reader.ReadVarUInt64();
        return (long)(value >> 1) ^ -(long)(value & 1);
    }

    public static byte ReadVarUInt8<TInput>(this ref Reader<TInput> reader) => checked((byte)reader.ReadVarUInt64());

    public static ushort ReadVarUInt16<TInput>(this ref Reader<TInput> reader) => checked((ushort)reader.ReadVarUInt64());

    public static sbyte ReadInt8<TInput>(this ref Reader<TInput> reader, WireType wireType) => checked((sbyte)reader.ReadInt64(wireType));

    public static short ReadInt16<TInput>(this ref Reader<TInput> reader, WireType wireType) => checked((short)reader.ReadInt64(wireType));

    public static int ReadInt32<TInput>(this ref Reader<TInput> reader, WireType wireType) => checked((int)reader.ReadInt64(wireType));

    public static long ReadInt64<TInput>(this ref Reader<TInput> reader, WireType wireType) => wireType switch
    {
        WireType.VarInt => reader.ReadVarInt64(),
        WireType.Fixed32 => reader.ReadInt32(),
        WireType.Fixed64 => reader.ReadInt64(),
        WireType.LengthPrefixed => checked((long)(Int128)ReadUInt128(ref reader)),
        _ => throw NotANumber(wireType),
    };

    public static byte ReadUInt8<TInput>(this ref Reader<TInput> reader, WireType wireType) => checked((byte)reader.ReadUInt64(wireType));

    public static ushort ReadUInt16<TInput>(this ref Reader<TInput> reader, WireType wireType) =>
        checked((ushort)reader.ReadUInt64(wireType));

    public static uint ReadUInt32<TInput>(this ref Reader<TInput> reader, WireType wireType) => checked((uint)reader.ReadUInt64(wireType));

    public static ulong ReadUInt64<TInput>(this ref Reader<TInput> reader, WireType wireType) => wireType switch
    {
        WireType.VarInt => reader.ReadVarUInt64(),
        WireType.Fixed32 => reader.ReadUInt32(),
        WireType.Fixed64 => reader.ReadUInt64(),
        WireType.LengthPrefixed => checked((ulong)ReadUInt128(ref reader)),
        _ => throw NotANumber(wireType),
    };

    /// <summary>A length of 16, low half, high half.</summary>
    internal static UInt128 ReadUInt128<TInput>(ref Reader<TInput> reader)
    {
        var length = reader.ReadVarUInt32();
        if (length != 16)
            throw new UnexpectedLengthPrefixValueException("Int128", 16, length);
        var low = reader.ReadUInt64();
        return new UInt128(reader.ReadUInt64(), low);
    }

    private static UnsupportedWireTypeException NotANumber(WireType wireType) => new("The wire type " + wireType + " is not a number.");
}
