using System.Net;
using ActOp.Wire;
using Orleans.Runtime;
using Orleans.Serialization;

namespace ActOp.Serialization.Codecs;

/// <summary>Reads and writes values of several parts. Invalid values throw <see cref="SerializerException"/>.</summary>
internal static class Parsing
{
    internal static long InRange(long value, long min, long max) =>
        value >= min && value <= max
            ? value : throw new SerializerException("The number " + value + " in the message is not between " + min + " and " + max + ".");

    internal static DateTime DateTime(long value)
    {
        try
        {
            return System.DateTime.FromBinary(value);
        }
        catch (ArgumentException exception)
        {
            throw Invalid("time", exception);
        }
    }

    internal static DateOnly DateOnly(int days) =>
        days >= 0 && days <= System.DateOnly.MaxValue.DayNumber ? System.DateOnly.FromDayNumber(days) : throw Invalid("date");

    internal static TimeOnly TimeOnly(long ticks) =>
        ticks >= 0 && ticks < TimeSpan.TicksPerDay ? new TimeOnly(ticks) : throw Invalid("time of day");

    internal static System.Text.Rune Rune(int value) =>
        System.Text.Rune.IsValid(value) ? new System.Text.Rune(value) : throw Invalid("character");

    internal static Calls.NoResult NoResult(byte value) => value == 0 ? default : throw Invalid("empty result");

    internal static Uri? Uri(string? text)
    {
        if (text is null)
            return null;
        return System.Uri.TryCreate(text, UriKind.RelativeOrAbsolute, out var uri) ? uri : throw Invalid("URI");
    }

    internal static Version? Version(string? text)
    {
        if (text is null)
            return null;
        return System.Version.TryParse(text, out var version) ? version : throw Invalid("version");
    }

    internal static Type? Type(string? name)
    {
        if (name is null)
            return null;
        return TypeManifest.TryGetType(name, out var type)
            ? type : throw new SerializerException("The message names the type " + name + ", which is not registered in this process.");
    }

    internal static System.Globalization.CultureInfo? Culture(string? name)
    {
        if (name is null)
            return null;
        if (name.Length > 85)
            throw Invalid("culture");
        try
        {
            return System.Globalization.CultureInfo.GetCultureInfo(name, predefinedOnly: true);
        }
        catch (System.Globalization.CultureNotFoundException exception)
        {
            throw Invalid("culture", exception);
        }
    }

    internal static void Write(ref WireWriter writer, DateTimeOffset value)
    {
        writer.WriteVarInt64(value.UtcTicks);
        writer.WriteVarInt32(value.TotalOffsetMinutes);
    }

    internal static DateTimeOffset DateTimeOffset(ref WireReader reader)
    {
        var ticks = reader.ReadVarInt64();
        var minutes = reader.ReadVarInt32();
        if (Math.Abs((long)minutes) > 14 * 60 || ticks < 0 || ticks > System.DateTime.MaxValue.Ticks)
            throw Invalid("time");
        var offset = TimeSpan.FromMinutes(minutes);
        var local = ticks + offset.Ticks;
        return local >= 0 && local <= System.DateTime.MaxValue.Ticks ? new DateTimeOffset(local, offset) : throw Invalid("time");
    }

    internal static void Write(ref WireWriter writer, decimal value)
    {
        Span<int> bits = stackalloc int[4];
        decimal.GetBits(value, bits);
        foreach (var part in bits)
            writer.WriteFixed32((uint)part);
    }

    internal static decimal Decimal(ref WireReader reader)
    {
        Span<int> bits = stackalloc int[4];
        for (var i = 0; i < 4; i++)
            bits[i] = (int)reader.ReadFixed32();
        try
        {
            return new decimal(bits);
        }
        catch (ArgumentException exception)
        {
            throw Invalid("decimal", exception);
        }
    }

    internal static void Write(ref WireWriter writer, Guid value)
    {
        Span<byte> bytes = stackalloc byte[16];
        value.TryWriteBytes(bytes);
        writer.WriteRaw(bytes);
    }

    internal static Guid Guid(ref WireReader reader) => new(reader.ReadRaw(16));

    internal static void Write(ref WireWriter writer, UInt128 value)
    {
        writer.WriteFixed64((ulong)value);
        writer.WriteFixed64((ulong)(value >> 64));
    }

    internal static UInt128 UInt128(ref WireReader reader)
    {
        var low = reader.ReadFixed64();
        return new UInt128(reader.ReadFixed64(), low);
    }

    internal static void Write(ref WireWriter writer, IPAddress? value)
    {
        Span<byte> bytes = stackalloc byte[16];
        var length = 0;
        value?.TryWriteBytes(bytes, out length);
        writer.WriteBytes(bytes[..length]);
        if (length == 16)
            writer.WriteVarInt64(value!.ScopeId);
    }

    internal static IPAddress? Address(ref WireReader reader)
    {
        var bytes = reader.ReadBytes();
        return bytes.Length switch
        {
            0 => null,
            4 => new IPAddress(bytes),
            16 when reader.ReadVarInt64() is >= 0 and <= uint.MaxValue and var scope => new IPAddress(bytes, scope),
            _ => throw Invalid("IP address"),
        };
    }

    internal static void Write(ref WireWriter writer, IPEndPoint? value)
    {
        Write(ref writer, value?.Address);
        if (value is not null)
            writer.WriteVarUInt32((uint)value.Port);
    }

    internal static IPEndPoint? EndPoint(ref WireReader reader)
    {
        if (Address(ref reader) is not { } address)
            return null;
        var port = reader.ReadVarUInt32();
        return port <= IPEndPoint.MaxPort ? new IPEndPoint(address, (int)port) : throw Invalid("port");
    }

    internal static IdSpan IdSpan(ref WireReader reader)
    {
        var bytes = reader.ReadBytes();
        return bytes.IsEmpty ? default : new IdSpan(bytes.ToArray());
    }

    internal static void Write(ref WireWriter writer, GrainId value)
    {
        writer.WriteBytes(value.Type.AsSpan());
        writer.WriteBytes(value.Key.AsSpan());
    }

    internal static GrainId GrainId(ref WireReader reader)
    {
        var type = IdSpan(ref reader);
        var key = IdSpan(ref reader);
        return type.IsDefault && key.IsDefault ? default : new GrainId(new GrainType(type), key);
    }

    internal static ActivationId Activation(string text)
    {
        if (text.Length == 0)
            return default;
        try
        {
            return ActivationId.FromParsableString(text);
        }
        catch (Exception exception) when (exception is FormatException or ArgumentException)
        {
            throw Invalid("activation", exception);
        }
    }

    internal static void Write(ref WireWriter writer, SiloAddress? value)
    {
        Write(ref writer, value?.Endpoint);
        if (value is not null)
            writer.WriteVarInt32(value.Generation);
    }

    internal static SiloAddress? Silo(ref WireReader reader) =>
        EndPoint(ref reader) is { } endpoint ? SiloAddress.New(endpoint, reader.ReadVarInt32()) : null;

    internal static void Write(ref WireWriter writer, GrainAddress? value)
    {
        writer.WriteByte(value is null ? (byte)0 : (byte)1);
        if (value is null)
            return;
        Write(ref writer, value.GrainId);
        writer.WriteString(value.ActivationId.IsDefault ? "" : value.ActivationId.ToParsableString());
        Write(ref writer, value.SiloAddress);
        writer.WriteVarInt64(value.MembershipVersion.Value);
    }

    internal static GrainAddress? GrainAddress(ref WireReader reader)
    {
        if (reader.ReadByte() == 0)
            return null;
        return new GrainAddress
        {
            GrainId = GrainId(ref reader),
            ActivationId = Activation(reader.ReadString()),
            SiloAddress = Silo(ref reader),
            MembershipVersion = new MembershipVersion(reader.ReadVarInt64()),
        };
    }

    internal static SerializerException Invalid(string what, Exception? inner = null) =>
        new("The message has an invalid " + what + ".", inner!);
}
