using System.Collections.Concurrent;
using System.Collections.Frozen;
using System.Collections.Immutable;
using System.Collections.ObjectModel;
using System.Collections.Specialized;
using ActOp.Serialization.Fields.Bridging;

namespace Orleans.Serialization.Codecs;

/// <summary>Fields of dictionaries for several threads.</summary>
/// <typeparam name="TKey">The keys.</typeparam>
/// <typeparam name="TValue">The values.</typeparam>
public sealed class ConcurrentDictionaryCodec<TKey, TValue> : NativeFieldCodec<ConcurrentDictionary<TKey, TValue>>
    where TKey : notnull;

/// <summary>Copies dictionaries for several threads.</summary>
/// <typeparam name="TKey">The keys.</typeparam>
/// <typeparam name="TValue">The values.</typeparam>
public sealed class ConcurrentDictionaryCopier<TKey, TValue> : NativeCopier<ConcurrentDictionary<TKey, TValue>>
    where TKey : notnull;

/// <summary>Fields of dictionaries.</summary>
/// <typeparam name="TKey">The keys.</typeparam>
/// <typeparam name="TValue">The values.</typeparam>
public sealed class DictionaryCodec<TKey, TValue> : NativeFieldCodec<Dictionary<TKey, TValue>>
    where TKey : notnull;

/// <summary>Copies dictionaries.</summary>
/// <typeparam name="TKey">The keys.</typeparam>
/// <typeparam name="TValue">The values.</typeparam>
public sealed class DictionaryCopier<TKey, TValue> : NativeCopier<Dictionary<TKey, TValue>>
    where TKey : notnull;

/// <summary>Fields of frozen dictionaries.</summary>
/// <typeparam name="TKey">The keys.</typeparam>
/// <typeparam name="TValue">The values.</typeparam>
public sealed class FrozenDictionaryCodec<TKey, TValue> : NativeFieldCodec<FrozenDictionary<TKey, TValue>>
    where TKey : notnull;

/// <summary>Copies frozen dictionaries.</summary>
/// <typeparam name="TKey">The keys.</typeparam>
/// <typeparam name="TValue">The values.</typeparam>
public sealed class FrozenDictionaryCopier<TKey, TValue> : NativeCopier<FrozenDictionary<TKey, TValue>>
    where TKey : notnull;

/// <summary>Fields of immutable dictionaries.</summary>
/// <typeparam name="TKey">The keys.</typeparam>
/// <typeparam name="TValue">The values.</typeparam>
public sealed class ImmutableDictionaryCodec<TKey, TValue> : NativeFieldCodec<ImmutableDictionary<TKey, TValue>>
    where TKey : notnull;

/// <summary>Copies immutable dictionaries.</summary>
/// <typeparam name="TKey">The keys.</typeparam>
/// <typeparam name="TValue">The values.</typeparam>
public sealed class ImmutableDictionaryCopier<TKey, TValue> : NativeCopier<ImmutableDictionary<TKey, TValue>>
    where TKey : notnull;

/// <summary>Fields of immutable sorted dictionaries.</summary>
/// <typeparam name="TKey">The keys.</typeparam>
/// <typeparam name="TValue">The values.</typeparam>
public sealed class ImmutableSortedDictionaryCodec<TKey, TValue> : NativeFieldCodec<ImmutableSortedDictionary<TKey, TValue>>
    where TKey : notnull;

/// <summary>Copies immutable sorted dictionaries.</summary>
/// <typeparam name="TKey">The keys.</typeparam>
/// <typeparam name="TValue">The values.</typeparam>
public sealed class ImmutableSortedDictionaryCopier<TKey, TValue> : NativeCopier<ImmutableSortedDictionary<TKey, TValue>>
    where TKey : notnull;

/// <summary>Fields of pairs of a key and a value.</summary>
/// <typeparam name="TKey">The key.</typeparam>
/// <typeparam name="TValue">The value.</typeparam>
public sealed class KeyValuePairCodec<TKey, TValue> : NativeFieldCodec<KeyValuePair<TKey, TValue>>;

/// <summary>Copies pairs of a key and a value.</summary>
/// <typeparam name="TKey">The key.</typeparam>
/// <typeparam name="TValue">The value.</typeparam>
public sealed class KeyValuePairCopier<TKey, TValue> : NativeCopier<KeyValuePair<TKey, TValue>>;

/// <summary>Fields of texts by name.</summary>
public sealed class NameValueCollectionCodec : NativeFieldCodec<NameValueCollection>;

/// <summary>Copies texts by name.</summary>
public sealed class NameValueCollectionCopier : NativeCopier<NameValueCollection>;

/// <summary>Fields of read-only dictionaries.</summary>
/// <typeparam name="TKey">The keys.</typeparam>
/// <typeparam name="TValue">The values.</typeparam>
public sealed class ReadOnlyDictionaryCodec<TKey, TValue> : NativeFieldCodec<ReadOnlyDictionary<TKey, TValue>>
    where TKey : notnull;

/// <summary>Copies read-only dictionaries.</summary>
/// <typeparam name="TKey">The keys.</typeparam>
/// <typeparam name="TValue">The values.</typeparam>
public sealed class ReadOnlyDictionaryCopier<TKey, TValue> : NativeCopier<ReadOnlyDictionary<TKey, TValue>>
    where TKey : notnull;

/// <summary>Fields of sorted dictionaries.</summary>
/// <typeparam name="TKey">The keys.</typeparam>
/// <typeparam name="TValue">The values.</typeparam>
public sealed class SortedDictionaryCodec<TKey, TValue> : NativeFieldCodec<SortedDictionary<TKey, TValue>>
    where TKey : notnull;

/// <summary>Copies sorted dictionaries.</summary>
/// <typeparam name="TKey">The keys.</typeparam>
/// <typeparam name="TValue">The values.</typeparam>
public sealed class SortedDictionaryCopier<TKey, TValue> : NativeCopier<SortedDictionary<TKey, TValue>>
    where TKey : notnull;

/// <summary>Fields of sorted lists.</summary>
/// <typeparam name="TKey">The keys.</typeparam>
/// <typeparam name="TValue">The values.</typeparam>
public sealed class SortedListCodec<TKey, TValue> : NativeFieldCodec<SortedList<TKey, TValue>>
    where TKey : notnull;

/// <summary>Copies sorted lists.</summary>
/// <typeparam name="TKey">The keys.</typeparam>
/// <typeparam name="TValue">The values.</typeparam>
public sealed class SortedListCopier<TKey, TValue> : NativeCopier<SortedList<TKey, TValue>>
    where TKey : notnull;
