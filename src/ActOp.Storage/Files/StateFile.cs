using System.Buffers.Binary;
using System.Globalization;
using System.Security.Cryptography;
using System.Text;
using Orleans.Runtime;

namespace ActOp.Storage.Files;

/// <summary>What one file holds: a state of a grain and its ETag.</summary>
/// <param name="State">The name of the state.</param>
/// <param name="Grain">The grain (<see cref="GrainBytes.BytesOf"/>).</param>
/// <param name="ETag">The version.</param>
/// <param name="Content">What the serializer has written.</param>
internal sealed record StateFile(string State, ReadOnlyMemory<byte> Grain, string ETag, ReadOnlyMemory<byte> Content)
{
    /// <summary>
    /// The layout: magic (8 bytes), version (2), four sections with their length before them (4 bytes, little endian): state, grain, ETag,
    /// content; SHA-256 of all that (32). A newer layout has a higher version.
    /// </summary>
    private const ushort Version = 1;

    private const int MaxReadable = 40;

    private static ReadOnlySpan<byte> Magic => "ActOpGS\n"u8;

    /// <summary>
    /// The folder and the name of the file of a state. Any key has one: what is readable of it, and a hash that makes it unique, also
    /// where upper and lower case are the same. The grain is checked when the file is read.
    /// </summary>
    internal static (string Folder, string Name) NameOf(string state, GrainId grain)
    {
        byte[] key = [.. Encoding.UTF8.GetBytes(state), 0, .. GrainBytes.BytesOf(grain)];
        var hash = Convert.ToHexStringLower(SHA256.HashData(key).AsSpan(0, 16));
        var name = Readable(grain.Type.ToString()!) + "." + Readable(grain.Key.ToString()!) + "." + Readable(state) + "." + hash;
        return (hash[..2], name);
    }

    internal byte[] Encode()
    {
        byte[][] sections = [Encoding.UTF8.GetBytes(State), Grain.ToArray(), Encoding.UTF8.GetBytes(ETag), Content.ToArray()];
        var size = Magic.Length + sizeof(ushort) + sections.Sum(static section => sizeof(int) + section.Length);
        var bytes = new byte[size + SHA256.HashSizeInBytes];
        Magic.CopyTo(bytes);
        BinaryPrimitives.WriteUInt16LittleEndian(bytes.AsSpan(Magic.Length), Version);
        var at = Magic.Length + sizeof(ushort);
        foreach (var section in sections)
        {
            BinaryPrimitives.WriteInt32LittleEndian(bytes.AsSpan(at), section.Length);
            section.CopyTo(bytes, at + sizeof(int));
            at += sizeof(int) + section.Length;
        }

        SHA256.HashData(bytes.AsSpan(0, size), bytes.AsSpan(size));
        return bytes;
    }

    /// <summary>Reads what <see cref="Encode"/> has written.</summary>
    /// <exception cref="InvalidDataException">It was not, or not completely, or by a newer version; the message names the file.</exception>
    internal static StateFile Decode(byte[] bytes, string path)
    {
        if (bytes.Length < Magic.Length + sizeof(ushort) || !bytes.AsSpan().StartsWith(Magic))
            throw Refused(path, "it is no file of a state, or its beginning is missing");
        var version = BinaryPrimitives.ReadUInt16LittleEndian(bytes.AsSpan(Magic.Length));
        if (version != Version)
        {
            throw Refused(path, "it has the format " + version.ToString(CultureInfo.InvariantCulture) + ", and this version of ActOp reads "
                + Version.ToString(CultureInfo.InvariantCulture));
        }

        var size = bytes.Length - SHA256.HashSizeInBytes;
        if (size < 0 || !SHA256.HashData(bytes.AsSpan(0, size)).AsSpan().SequenceEqual(bytes.AsSpan(size)))
            throw Refused(path, "its checksum is wrong: it is damaged or incomplete");
        var at = Magic.Length + sizeof(ushort);
        var (state, grain, etag) = (Text(bytes, ref at, size), Section(bytes, ref at, size), Text(bytes, ref at, size));
        return new StateFile(state, grain, etag, Section(bytes, ref at, size));

        string Text(byte[] from, ref int at, int end) => Encoding.UTF8.GetString(Section(from, ref at, end).Span);

        ReadOnlyMemory<byte> Section(byte[] from, ref int at, int end)
        {
            var length = at + sizeof(int) <= end ? BinaryPrimitives.ReadInt32LittleEndian(from.AsSpan(at)) : -1;
            at += sizeof(int);
            if (length < 0 || length > end - at)
                throw Refused(path, "its sections are damaged");
            at += length;
            return from.AsMemory(at - length, length);
        }
    }

    internal static InvalidDataException Refused(string path, string reason) => new("The file " + path + " was not read: " + reason
        + ". It was left as it is. Restore it from a backup, or remove it to give up this state.");

    private static string Readable(string text)
    {
        var kept = new StringBuilder();
        foreach (var letter in text.AsSpan(0, Math.Min(text.Length, MaxReadable)))
            kept.Append(char.IsAsciiLetterOrDigit(letter) ? char.ToLowerInvariant(letter) : '_');
        return kept.ToString();
    }
}
