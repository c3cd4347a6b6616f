using System.Buffers;

namespace Orleans.Runtime;

/// <summary>Takes what an activation carries along when it moves.</summary>
public interface IDehydrationContext
{
    /// <summary>The keys so far.</summary>
    IEnumerable<string> Keys { get; }

    /// <summary>Adds bytes.</summary>
    void AddBytes(string key, ReadOnlySpan<byte> value);

    /// <summary>Adds the bytes that <paramref name="valueWriter"/> writes.</summary>
    void AddBytes<T>(string key, Action<T, IBufferWriter<byte>> valueWriter, T value);

    /// <summary>Adds a value; false when its type is not serializable.</summary>
    bool TryAddValue<T>(string key, T? value);
}
