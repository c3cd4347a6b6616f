using System.Runtime.CompilerServices;
using Google.Protobuf.Reflection;

namespace ActOp.Serialization.Protobuf;

/// <summary>
/// How much memory a message takes that is about to be read, from its bytes: two bytes can be a message within it, with maps and lists that
/// its class makes at once. An estimate, of the sizes that the library has on 64 bits.
/// </summary>
internal static class MessageMemory
{
    /// <summary>As the library: what is nested deeper is refused by it.</summary>
    private const int MaxDepth = 100;

    private const int OfObject = 32;
    private const int OfField = 8;
    private const int OfList = 40;
    private const int OfMap = 168;

    /// <summary>A place in a list, with the room that it has beyond its items.</summary>
    private const int OfItem = 16;

    /// <summary>An entry of a map: of its table, and of the list that keeps the order.</summary>
    private const int OfEntry = 120;

    /// <summary>The set of unknown fields of a message, and one of them.</summary>
    private const int OfUnknownSet = 240;
    private const int OfUnknown = 150;

    /// <summary>What an empty message takes, once counted.</summary>
    private static readonly ConditionalWeakTable<MessageDescriptor, object> Empty = new();

    public static long BytesOf(MessageDescriptor? type, ReadOnlySpan<byte> data)
    {
        var total = 0L;
        Walk(type, data, 0, ref total);
        return total;
    }

    /// <summary>Adds what a message takes. What is malformed ends the walk: the library says so.</summary>
    /// <returns>The bytes up to the end of the message or group; negative if they are malformed.</returns>
    private static int Walk(MessageDescriptor? type, ReadOnlySpan<byte> data, int depth, ref long total)
    {
        if (depth > MaxDepth)
            return -1;
        total += OfEmpty(type);
        var hasUnknown = false;
        var at = 0;
        while (at < data.Length)
        {
            if (!TryVarint(data, ref at, out var tag))
                return -1;
            if ((tag & 7) == 4)
                return at;
            var field = type?.FindFieldByNumber((int)(uint)(tag >> 3));
            if (field is null)
            {
                total += OfUnknown + (hasUnknown ? 0 : OfUnknownSet);
                hasUnknown = true;
            }
            else if (field.IsRepeated)
            {
                total += OfItem;
            }

            if (!TryValue(field, (int)(tag & 7), data, ref at, depth, ref total))
                return -1;
        }

        return at;
    }

    private static bool TryValue(
        FieldDescriptor? field, int wireType, ReadOnlySpan<byte> data, ref int at, int depth, ref long total)
    {
        switch (wireType)
        {
            case 0:
                return TryVarint(data, ref at, out _);
            case 1:
                at += 8;
                break;
            case 5:
                at += 4;
                break;
            case 3:
                var group = Walk(TypeOf(field), data[at..], depth + 1, ref total);
                at += group;
                return group >= 0;
            case 2:
                if (!TryVarint(data, ref at, out var length) || length > (ulong)(data.Length - at))
                    return false;
                var content = data.Slice(at, (int)length);
                at += (int)length;
                if (TypeOf(field) is not { } type)
                    total += OfBytes(field, content.Length);
                else if (Walk(type, content, depth + 1, ref total) < 0)
                    return false;
                if (field is { IsMap: true })
                    total += OfEntry;
                break;
            default:
                return false;
        }

        return at <= data.Length;
    }

    private static MessageDescriptor? TypeOf(FieldDescriptor? field) =>
        field is { FieldType: FieldType.Message or FieldType.Group } ? field.MessageType : null;

    /// <summary>A text, bytes, or numbers without tags between them, of one byte or more each.</summary>
    private static long OfBytes(FieldDescriptor? field, long length) => field?.FieldType switch
    {
        FieldType.String => OfObject + (2 * length),
        FieldType.Bytes or null => (2 * OfObject) + length,
        FieldType.Fixed32 or FieldType.Fixed64 or FieldType.SFixed32 or FieldType.SFixed64 or FieldType.Float or FieldType.Double
            or FieldType.Bool => 2 * length,
        FieldType.Int64 or FieldType.UInt64 or FieldType.SInt64 => OfItem * length,
        _ => OfItem / 2 * length,
    };

    private static long OfEmpty(MessageDescriptor? type) =>
        type is null ? OfObject : (long)Empty.GetValue(type, static one => CountEmpty(one));

    private static long CountEmpty(MessageDescriptor type)
    {
        var total = (long)OfObject;
        foreach (var field in type.Fields.InDeclarationOrder())
            total += OfField + (field.IsMap ? OfMap : field.IsRepeated ? OfList : 0);
        return total;
    }

    private static bool TryVarint(ReadOnlySpan<byte> data, ref int at, out ulong value)
    {
        value = 0;
        for (var shift = 0; shift < 70 && at < data.Length; shift += 7)
        {
            var next = data[at++];
            value |= (ulong)(next & 0x7F) << shift;
            if (next < 0x80)
                return true;
        }

        return false;
    }
}
