using System.Buffers;
using System.Diagnostics.CodeAnalysis;

namespace Orleans.Runtime;

/// <summary>A grain, or a part of one, that carries something along when the activation moves to another silo.</summary>
public interface IGrainMigrationParticipant
{
    /// <summary>Called on the old silo.</summary>
    /// <param name="dehydrationContext">Gets what is carried along; valid only during the call.</param>
    void OnDehydrate(IDehydrationContext dehydrationContext);

    /// <summary>Called on the new silo before activation.</summary>
    /// <param name="rehydrationContext">Has what was carried along; valid only during the call.</param>
    void OnRehydrate(IRehydrationContext rehydrationContext);
}

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
