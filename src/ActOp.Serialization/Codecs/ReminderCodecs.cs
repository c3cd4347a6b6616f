using ActOp.Wire;
using Orleans;
using Orleans.Runtime;
using Orleans.Serialization;

namespace ActOp.Serialization.Codecs;

/// <summary>The codecs of reminders: their types are compiled without the generator.</summary>
internal static class ReminderCodecs
{
    internal static void Add(Action<Type, Func<object>> add)
    {
        add(typeof(TickStatus), static () => new TickStatusCodec());
        add(typeof(ReminderEntry), static () => new ReminderEntryCodec());
        add(typeof(ReminderTableData), static () => new ReminderTableDataCodec());
    }
}

/// <summary>First tick, period, this tick.</summary>
internal sealed class TickStatusCodec() : PlainCodec<TickStatus>(WireKind.Block)
{
    public override void Write(ref WireWriter writer, TickStatus value)
    {
        Codec<DateTime>.Default.Write(ref writer, value.FirstTickTime);
        Codec<TimeSpan>.Default.Write(ref writer, value.Period);
        Codec<DateTime>.Default.Write(ref writer, value.CurrentTickTime);
    }

    public override TickStatus Read(ref WireReader reader)
    {
        var first = Codec<DateTime>.Default.Read(ref reader);
        var period = Codec<TimeSpan>.Default.Read(ref reader);
        return new TickStatus(first, period, Codec<DateTime>.Default.Read(ref reader));
    }
}

/// <summary>Whether there is one; grain, name, first tick, period, ETag.</summary>
internal sealed class ReminderEntryCodec() : PlainCodec<ReminderEntry?>(WireKind.Block)
{
    public override bool IsImmutable => false;

    public override ReminderEntry? Copy(ReminderEntry? value, CopyContext context) => value is null ? null : CopyOf(value);

    internal static ReminderEntry CopyOf(ReminderEntry entry) => new()
    {
        GrainId = entry.GrainId,
        ReminderName = entry.ReminderName,
        StartAt = entry.StartAt,
        Period = entry.Period,
        ETag = entry.ETag,
    };

    public override void Write(ref WireWriter writer, ReminderEntry? value)
    {
        writer.WriteByte(value is null ? (byte)0 : (byte)1);
        if (value is null)
            return;
        Parsing.Write(ref writer, value.GrainId);
        writer.WriteNullableString(value.ReminderName);
        Codec<DateTime>.Default.Write(ref writer, value.StartAt);
        Codec<TimeSpan>.Default.Write(ref writer, value.Period);
        writer.WriteNullableString(value.ETag);
    }

    public override ReminderEntry? Read(ref WireReader reader)
    {
        if (reader.ReadByte() == 0)
            return null;
        var grain = Parsing.GrainId(ref reader);
        var name = reader.ReadNullableString();
        var start = Codec<DateTime>.Default.Read(ref reader);
        var period = Codec<TimeSpan>.Default.Read(ref reader);
        return new ReminderEntry
        {
            GrainId = grain,
            ReminderName = name!,
            StartAt = start,
            Period = period,
            ETag = reader.ReadNullableString(),
        };
    }
}

/// <summary>Whether there is one; the number of its reminders, and these.</summary>
internal sealed class ReminderTableDataCodec() : PlainCodec<ReminderTableData?>(WireKind.Block)
{
    public override bool IsImmutable => false;

    public override ReminderTableData? Copy(ReminderTableData? value, CopyContext context) =>
        value is null ? null : new ReminderTableData(value.Reminders.Select(ReminderEntryCodec.CopyOf));

    public override void Write(ref WireWriter writer, ReminderTableData? value)
    {
        writer.WriteByte(value is null ? (byte)0 : (byte)1);
        if (value is not null)
            Codec<List<ReminderEntry>>.Default.Write(ref writer, [.. value.Reminders]);
    }

    public override ReminderTableData? Read(ref WireReader reader) => reader.ReadByte() == 0
        ? null
        : new ReminderTableData(Codec<List<ReminderEntry>>.Default.Read(ref reader)
            ?? throw new SerializerException("The message contains no list of reminders."));
}
