using System.Text;

namespace ActOp.Generators.Reading;

/// <summary>FNV-1a with 64 bits over UTF-8: the same in every build and process.</summary>
internal static class StableHash
{
    public static ulong Of(string text)
    {
        var hash = 14695981039346656037UL;
        foreach (var b in Encoding.UTF8.GetBytes(text))
            hash = unchecked((hash ^ b) * 1099511628211UL);
        return hash;
    }
}
