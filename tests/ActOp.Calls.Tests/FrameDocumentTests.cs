using System.Globalization;
using System.Text.RegularExpressions;
using ActOp.Runtime.Calls;
using ActOp.Runtime.Routing;
using ActOp.Wire;

namespace ActOp.Calls.Tests;

/// <summary>Frames are read by the tables of docs/frames.md: the document says what the code writes, part by part.</summary>
public sealed partial class FrameDocumentTests
{
    private const ulong Ticket = 0x1122334455667788;
    private const ulong Method = 0x99AABBCCDDEEFF00;
    private const ulong Mark = 0x0102030405060708;

    private static readonly SiloAddress Silo = SiloAddress.New(System.Net.IPAddress.Loopback, 11111, 5);
    private static readonly SiloAddress Client = SiloAddress.New(System.Net.IPAddress.Parse("10.0.0.7"), 0, -9);
    private static readonly GrainId Target = GrainId.Create("player", "key");
    private static readonly GrainId Source = GrainId.Create("game", "another key");
    private static readonly byte[] Content = [7, 7, 7];

    private static readonly FrameFlags[] RequestFlags =
        [FrameFlags.OneWay, FrameFlags.HasOrigin, FrameFlags.HasDeadline, FrameFlags.HasTypeArguments];

    private delegate void Write(ref WireWriter writer);

    public static TheoryData<int> Combinations => [.. Enumerable.Range(0, 1 << (RequestFlags.Length + 3))];

    [Theory]
    [MemberData(nameof(Combinations))]
    public void A_request_has_the_parts_of_the_document_in_their_order(int combination)
    {
        var header = RequestOf(combination);
        var frame = Written((ref WireWriter writer) =>
        {
            header.Write(ref writer, Target, Source);
            writer.WriteRaw(Content);
        });
        Dictionary<string, object> expected = new()
        {
            ["flags"] = (byte)header.Flags,
            ["forwards"] = (byte)(header.Forwards | (header.NamesInterface ? 64 : 0) | (header.PlacedHere ? 128 : 0)),
            ["ticket"] = Ticket,
            ["method"] = Method,
            ["target"] = Target,
            ["source"] = Source,
            ["content"] = Convert.ToHexString(Content),
        };
        if (header.HasOrigin)
            (expected["origin"], expected["via"]) = (header.Origin!, Silo);
        if (header is { HasOrigin: true, Origin.IsClient: true })
            expected["mark"] = Mark;
        if (header.HasDeadline)
            expected["time left"] = (ulong)header.TimeLeft;
        if (header.NamesInterface)
            (expected["version"], expected["interface"]) = ((ulong)header.Version, header.Interface!);
        if (header.TypeArguments is not null)
            expected["type arguments"] = header.TypeArguments;
        Assert.Equal(expected, ReadByDocument(frame));

        var reader = new WireReader(frame, new WireSession(null));
        reader.ReadByte();
        Assert.Equal(header, RequestHeader.Read(ref reader, out _, out _, out _));
        Assert.Equal(Content.Length, reader.Remaining);
    }

    [Theory]
    [InlineData(FrameFlags.None)]
    [InlineData(FrameFlags.IsError)]
    [InlineData(FrameFlags.HasLocation)]
    [InlineData(FrameFlags.HasLocation | FrameFlags.IsError)]
    public void A_reply_has_the_parts_of_the_document_in_their_order(object flags)
    {
        var isLocated = ((FrameFlags)flags & FrameFlags.HasLocation) != 0;
        ReplyHeader header = new((FrameFlags)flags, Ticket, isLocated ? Silo : null, isLocated ? -3 : 0);
        var frame = Written((ref WireWriter writer) =>
        {
            header.Write(ref writer);
            writer.WriteRaw(Content);
        });
        Dictionary<string, object> expected = new()
        {
            ["flags"] = (byte)header.Flags,
            ["ticket"] = Ticket,
            ["content"] = Convert.ToHexString(Content),
        };
        if (isLocated)
            (expected["silo"], expected["epoch"]) = (Silo, -3L);
        Assert.Equal(expected, ReadByDocument(frame));

        var reader = new WireReader(frame, new WireSession(null));
        reader.ReadByte();
        Assert.Equal(header, ReplyHeader.Read(ref reader));
        Assert.Equal(isLocated ? frame.Length : ReplyHeader.MinBytes + Content.Length, frame.Length);
    }

    [Fact]
    public void A_note_about_a_forwarded_request_has_the_parts_of_the_document()
    {
        ForwardedFrame note = new(3, Ticket, Silo);
        var frame = Written(note.Write);
        Assert.Equal(new() { ["hop"] = (byte)3, ["ticket"] = Ticket, ["silo"] = Silo }, ReadByDocument(frame));
        var reader = new WireReader(frame, new WireSession(null));
        reader.ReadByte();
        Assert.Equal(note, ForwardedFrame.Read(ref reader));
    }

    [Fact]
    public void A_cancellation_has_the_parts_of_the_document()
    {
        CancelFrame cancelled = new(Client, Ticket, Target, 2, 1_500);
        var frame = Written((ref WireWriter writer) => cancelled.Write(ref writer, 1_000));
        Assert.Equal(
            new() { ["hop"] = (byte)2, ["ticket"] = Ticket, ["origin"] = Client, ["target"] = Target, ["kept"] = 500UL },
            ReadByDocument(frame));
        var reader = new WireReader(frame, new WireSession(null));
        reader.ReadByte();
        Assert.Equal(cancelled, CancelFrame.Read(ref reader, 1_000));
    }

    [Theory]
    [InlineData(true)]
    [InlineData(false)]
    public void A_request_for_many_has_the_parts_of_the_document_in_their_order(bool isOneWay)
    {
        var prefix = FanoutFrame.PrefixOf(Client);
        byte[] receivers = [.. Enumerable.Range(1, 2 * FanoutFrame.BytesOf(isOneWay)).Select(static number => (byte)number)];
        byte[] request = [(byte)FrameKind.Request, .. Content];
        var frame = Written((ref WireWriter writer) =>
        {
            FanoutFrame.Write(ref writer, isOneWay, prefix, receivers);
            writer.WriteRaw(request);
        });
        Assert.Equal(
            new()
            {
                ["flags"] = (byte)(isOneWay ? FrameFlags.OneWay : FrameFlags.None),
                ["prefix"] = System.Text.Encoding.UTF8.GetString(prefix),
                ["receivers"] = Convert.ToHexString(receivers),
                ["request"] = Convert.ToHexString(request),
            },
            ReadByDocument(frame));
        var reader = new WireReader(frame, new WireSession(null));
        reader.ReadByte();
        var read = FanoutFrame.Read(ref reader);
        Assert.Equal((isOneWay, 2, request.Length), (read.IsOneWay, read.Count, reader.Remaining));
        Assert.Equal(prefix, read.Prefix);
        var digits = new byte[FanoutFrame.DigestDigits];
        var at = FanoutFrame.BytesOf(isOneWay);
        Assert.Equal(isOneWay ? 0 : BitConverter.ToUInt64(receivers, at + 16), read.Receiver(1, digits));
        Assert.Equal(Convert.ToHexStringLower(receivers, at, 16), System.Text.Encoding.UTF8.GetString(digits));
    }

    [Theory]
    [InlineData(true)]
    [InlineData(false)]
    public void A_request_for_many_grains_has_the_parts_of_the_document_in_their_order(bool isOneWay)
    {
        var receivers = Written((ref WireWriter writer) =>
        {
            foreach (var id in new[] { Target, GrainId.Create("player", new string('k', 300)) })
            {
                var bytes = new byte[GrainFanoutFrame.MaxBytesOf(id)];
                writer.WriteRaw(bytes.AsSpan(0, GrainFanoutFrame.WriteReceiver(bytes, id)));
                if (!isOneWay)
                    writer.WriteFixed64(Ticket);
            }
        });
        byte[] request = [(byte)FrameKind.Request, .. Content];
        var frame = Written((ref WireWriter writer) =>
        {
            GrainFanoutFrame.Write(ref writer, isOneWay, Target.Type.AsSpan(), 2, receivers);
            writer.WriteRaw(request);
        });
        var length = sizeof(uint) + 1 + Target.Key.AsSpan().Length + sizeof(uint) + 2 + 300;
        Assert.Equal(length + (isOneWay ? 0 : 2 * sizeof(ulong)), receivers.Length);
        Assert.Equal(
            new()
            {
                ["flags"] = (byte)(isOneWay ? FrameFlags.OneWay : FrameFlags.None),
                ["type"] = "player",
                ["count"] = 2UL,
                ["grains"] = System.Text.Encoding.UTF8.GetString(receivers),
                ["request"] = Convert.ToHexString(request),
            },
            ReadByDocument(frame));
        var reader = new WireReader(frame, new WireSession(null));
        reader.ReadByte();
        var read = GrainFanoutFrame.Read(ref reader);
        Assert.Equal((isOneWay, 2, request.Length), (read.IsOneWay, read.Count, reader.Remaining));
        var list = new WireReader(read.Receivers, reader.Session);
        Assert.Equal(Target, IdIntern.Current.Intern(read.ReadReceiver(ref list, out var ticket)));
        Assert.Equal(isOneWay ? 0 : Ticket, ticket);
        Assert.Equal(300, read.ReadReceiver(ref list, out _).Key.Length);
        Assert.Equal(0, list.Remaining);
    }

    [Fact]
    public void The_document_has_a_section_for_each_kind_with_its_number()
    {
        var sections = Document.Split("\n## ")[2..];
        Assert.Equal(
            Enum.GetValues<FrameKind>().Select(static kind => kind + " " + (byte)kind),
            sections.Select(static section => section.Split('\n')[0] + " " + Kind().Match(section).Groups[1].Value));
    }

    private static string Document { get; } = File.ReadAllText(Path.Combine(AppContext.BaseDirectory, "frames.md"));

    private static RequestHeader RequestOf(int combination)
    {
        RequestHeader header = new() { ReplyTo = Ticket, MethodId = Method, Forwards = 5 };
        for (var index = 0; index < RequestFlags.Length; index++)
            header.Flags |= (combination & (1 << index)) != 0 ? RequestFlags[index] : 0;
        combination >>= RequestFlags.Length;
        header.PlacedHere = (combination & 1) != 0;
        header.NamesInterface = (combination & 2) != 0;
        if (header.NamesInterface)
            (header.Version, header.Interface) = (300, "IPlayer");
        if (header.HasOrigin)
            (header.Origin, header.Via) = ((combination & 4) != 0 ? Client : Silo, Silo);
        header.Mark = header.Origin is { IsClient: true } ? Mark : 0;
        header.TimeLeft = header.HasDeadline ? 30_000u : 0;
        header.TypeArguments = (header.Flags & FrameFlags.HasTypeArguments) != 0 ? "[int]" : null;
        return header;
    }

    /// <summary>The parts of a frame by name, as the table of its kind says. Fails if the table ends before the frame, or after it.</summary>
    private static Dictionary<string, object> ReadByDocument(byte[] frame)
    {
        var reader = new WireReader(frame, new WireSession(null));
        var kind = (FrameKind)reader.ReadByte();
        var section = Document.Split("\n## ").Single(one => one.StartsWith(kind + "\n", StringComparison.Ordinal));
        Dictionary<string, object> parts = [];
        foreach (Match row in Row().Matches(section))
        {
            if (IsPresent(row.Groups[3].Value, parts))
                parts[row.Groups[1].Value] = ReadPart(row.Groups[2].Value, parts, ref reader);
        }

        Assert.Equal(0, reader.Remaining);
        return parts;
    }

    private static bool IsPresent(string condition, Dictionary<string, object> parts) => condition switch
    {
        "always" => true,
        "origin is a client" => parts.GetValueOrDefault("origin") is SiloAddress { IsClient: true },
        "forwards has 64" => ((byte)parts["forwards"] & 64) != 0,
        _ => ((FrameFlags)(byte)parts["flags"] & Enum.Parse<FrameFlags>(condition)) != 0,
    };

    /// <summary>By the descriptions of the forms, not by the methods of the runtime.</summary>
    private static object ReadPart(string form, Dictionary<string, object> parts, ref WireReader reader) => form switch
    {
        "bytes" => System.Text.Encoding.UTF8.GetString(reader.ReadBytes()),
        "receivers" => Convert.ToHexString(
            reader.ReadRaw((int)reader.ReadVarUInt64() * (((FrameFlags)(byte)parts["flags"] & FrameFlags.OneWay) != 0 ? 16 : 24))),
        "byte" => reader.ReadByte(),
        "fixed64" => reader.ReadFixed64(),
        "varint" => reader.ReadVarUInt64(),
        "zigzag" => reader.ReadVarInt64(),
        "string" => System.Text.Encoding.UTF8.GetString(reader.ReadBytes()),
        "id" => ReadId(ref reader),
        "address" => ReadAddress(ref reader),
        "rest" => Convert.ToHexString(reader.ReadRaw(reader.Remaining)),
        _ => throw new FormatException(form),
    };

    private static GrainId ReadId(ref WireReader reader)
    {
        var hash = reader.ReadFixed32();
        var id = GrainId.Create(System.Text.Encoding.UTF8.GetString(reader.ReadBytes()), System.Text.Encoding.UTF8.GetString(reader.ReadBytes()));
        Assert.Equal(id.GetUniformHashCode(), hash);
        return id;
    }

    private static SiloAddress ReadAddress(ref WireReader reader)
    {
        System.Net.IPAddress address = new(reader.ReadBytes());
        var port = int.Parse(reader.ReadVarUInt64().ToString(CultureInfo.InvariantCulture), CultureInfo.InvariantCulture);
        return SiloAddress.New(address, port, (int)reader.ReadVarInt64());
    }

    private static byte[] Written(Write write)
    {
        var buffer = new WireBuffer();
        var writer = new WireWriter(buffer, new WireSession(null));
        write(ref writer);
        writer.Commit();
        return buffer.Written.ToArray();
    }

    [GeneratedRegex("^Kind ([0-9]+)\\.", RegexOptions.Multiline)]
    private static partial Regex Kind();

    [GeneratedRegex("^\\| ([a-z ]+) \\| `([a-z0-9]+)` \\| ([A-Za-z0-9 ]+) \\|", RegexOptions.Multiline)]
    private static partial Regex Row();
}
