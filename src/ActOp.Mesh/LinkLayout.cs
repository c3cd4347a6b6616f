using System.Text;

namespace ActOp.Mesh;

/// <summary>Data links of a session that are kept for what is named: other frames do not use them.</summary>
/// <param name="Name">The name, 1 to 64 bytes of UTF-8.</param>
/// <param name="Links">How many, 1 or more.</param>
public sealed record NamedLinks(string Name, int Links);

/// <summary>Which data links of a session carry what: first those without a name, then the named ones in the order of this list.</summary>
/// <remarks>
/// Immutable. The end that dials decides and tells the other end with each link (tag 16 of a claim): the length of a name, the name, the
/// number of its links, for each name. An end that knows no such name, and one of a build before, sends over the links without a name.
/// </remarks>
internal sealed class LinkLayout
{
    internal const int MaxNames = 16;

    internal const int MaxNameBytes = 64;

    internal static readonly LinkLayout Plain = new([]);

    private readonly NamedLinks[] _named;

    internal LinkLayout(IEnumerable<NamedLinks> named) => _named = [.. named];

    /// <summary>The links of all names.</summary>
    internal int NamedCount => _named.Sum(static one => one.Links);

    /// <summary>Null if the bytes are no layout of so many data links, of which one at least has no name.</summary>
    internal static LinkLayout? Decode(ReadOnlySpan<byte> bytes, int links)
    {
        List<NamedLinks> named = [];
        while (!bytes.IsEmpty)
        {
            int length = bytes[0];
            if (length is 0 or > MaxNameBytes || bytes.Length < length + 2 || bytes[length + 1] == 0 || named.Count == MaxNames)
                return null;
            named.Add(new NamedLinks(Encoding.UTF8.GetString(bytes.Slice(1, length)), bytes[length + 1]));
            bytes = bytes[(length + 2)..];
        }

        var layout = new LinkLayout(named);
        return layout.NamedCount < links ? layout : null;
    }

    internal byte[] Encode() => [.. _named.SelectMany(static one => Encode(one.Links, Encoding.UTF8.GetBytes(one.Name)))];

    /// <summary>The links without a name.</summary>
    internal Link[] Unnamed(Link[] all) => all[..^NamedCount];

    /// <summary>The links of a name; those without a name if the layout does not have it.</summary>
    internal Link[] LinksOf(string name, Link[] all)
    {
        var first = all.Length - NamedCount;
        foreach (var one in _named)
        {
            if (one.Name == name)
                return all[first..(first + one.Links)];
            first += one.Links;
        }

        return Unnamed(all);
    }

    private static byte[] Encode(int links, byte[] name) => [(byte)name.Length, .. name, (byte)links];
}
