using System.Buffers;
using System.Diagnostics.CodeAnalysis;

namespace Orleans.Runtime;

/// <summary>Has what an activation carried along when it moved.</summary>
public interface IRehydrationContext
{
    /// <summary>All keys.</summary>
    IEnumerable<string> Keys { get; }

    /// <summary>The bytes of <paramref name="key"/>; false when there are none. Valid only during the call that got this context.</summary>
    bool TryGetBytes(string key, out ReadOnlySequence<byte> value);

    /// <summary>The value of <paramref name="key"/>; false when there is none or it is of another type.</summary>
    bool TryGetValue<T>(string key, [MaybeNullWhen(false)] out T? value);
}
