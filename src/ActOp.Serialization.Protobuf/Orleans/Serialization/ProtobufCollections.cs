#nullable disable
using Google.Protobuf;
using Google.Protobuf.Collections;
using Orleans.Serialization.Cloning;
using Orleans.Serialization.Codecs;
using Orleans.Serialization.Serializers;

namespace Orleans.Serialization;

/// <summary>What is written for bytes.</summary>
[GenerateSerializer]
public struct ByteStringSurrogate
{
    /// <summary>The bytes.</summary>
    [Id(0)]
    public byte[] Value;
}

/// <summary>Fields of bytes that do not change.</summary>
/// <param name="surrogateSerializer">Writes what stands for them.</param>
[RegisterSerializer]
public sealed class ByteStringCodec(IValueSerializer<ByteStringSurrogate> surrogateSerializer)
    : GeneralizedReferenceTypeSurrogateCodec<ByteString, ByteStringSurrogate>(surrogateSerializer)
{
    /// <inheritdoc/>
    public override ByteString ConvertFromSurrogate(ref ByteStringSurrogate surrogate) => ByteString.CopyFrom(surrogate.Value ?? []);

    /// <inheritdoc/>
    public override void ConvertToSurrogate(ByteString value, ref ByteStringSurrogate surrogate) => surrogate.Value = value.ToByteArray();
}

/// <summary>Copies bytes that do not change.</summary>
[RegisterCopier]
public sealed class ByteStringCopier : ShallowCopier<ByteString>;

/// <summary>What is written for a repeated field.</summary>
/// <typeparam name="T">The items.</typeparam>
[GenerateSerializer]
public struct RepeatedFieldSurrogate<T>
{
    /// <summary>The items.</summary>
    [Id(0)]
    public T[] Value;
}

/// <summary>Fields of repeated fields that stand outside of a message.</summary>
/// <typeparam name="T">The items.</typeparam>
/// <param name="surrogateSerializer">Writes what stands for them.</param>
[RegisterSerializer]
public sealed class RepeatedFieldCodec<T>(IValueSerializer<RepeatedFieldSurrogate<T>> surrogateSerializer)
    : GeneralizedReferenceTypeSurrogateCodec<RepeatedField<T>, RepeatedFieldSurrogate<T>>(surrogateSerializer)
{
    /// <inheritdoc/>
    public override RepeatedField<T> ConvertFromSurrogate(ref RepeatedFieldSurrogate<T> surrogate)
    {
        var items = new RepeatedField<T>();
        items.AddRange(surrogate.Value ?? []);
        return items;
    }

    /// <inheritdoc/>
    public override void ConvertToSurrogate(RepeatedField<T> value, ref RepeatedFieldSurrogate<T> surrogate) =>
        surrogate.Value = [.. value];
}

/// <summary>Copies repeated fields with their items.</summary>
/// <typeparam name="T">The items.</typeparam>
/// <param name="valueCopier">Copies an item.</param>
[RegisterCopier]
public sealed class RepeatedFieldCopier<T>(IDeepCopier<T> valueCopier) : IDeepCopier<RepeatedField<T>>
{
    /// <inheritdoc/>
    public RepeatedField<T> DeepCopy(RepeatedField<T> input, CopyContext context)
    {
        if (input is null)
            return null;
        if (context.TryGetCopy<RepeatedField<T>>(input, out var copy))
            return copy;
        copy = [];
        context.RecordCopy(input, copy);
        foreach (var item in input)
            copy.Add(valueCopier.DeepCopy(item, context));
        return copy;
    }
}

/// <summary>What is written for a map.</summary>
/// <typeparam name="TKey">The keys.</typeparam>
/// <typeparam name="TValue">The values.</typeparam>
[GenerateSerializer]
public struct MapFieldSurrogate<TKey, TValue>
{
    /// <summary>The entries.</summary>
    [Id(0)]
    public KeyValuePair<TKey, TValue>[] Value;
}

/// <summary>Fields of maps that stand outside of a message.</summary>
/// <typeparam name="TKey">The keys.</typeparam>
/// <typeparam name="TValue">The values.</typeparam>
/// <param name="surrogateSerializer">Writes what stands for them.</param>
[RegisterSerializer]
public sealed class MapFieldCodec<TKey, TValue>(IValueSerializer<MapFieldSurrogate<TKey, TValue>> surrogateSerializer)
    : GeneralizedReferenceTypeSurrogateCodec<MapField<TKey, TValue>, MapFieldSurrogate<TKey, TValue>>(surrogateSerializer)
{
    /// <inheritdoc/>
    public override MapField<TKey, TValue> ConvertFromSurrogate(ref MapFieldSurrogate<TKey, TValue> surrogate)
    {
        var map = new MapField<TKey, TValue>();
        foreach (var (key, value) in surrogate.Value ?? [])
            map[key] = value;
        return map;
    }

    /// <inheritdoc/>
    public override void ConvertToSurrogate(MapField<TKey, TValue> value, ref MapFieldSurrogate<TKey, TValue> surrogate) =>
        surrogate.Value = [.. value];
}

/// <summary>Copies maps with their keys and values.</summary>
/// <typeparam name="TKey">The keys.</typeparam>
/// <typeparam name="TValue">The values.</typeparam>
/// <param name="keyCopier">Copies a key.</param>
/// <param name="valueCopier">Copies a value.</param>
[RegisterCopier]
public sealed class MapFieldCopier<TKey, TValue>(IDeepCopier<TKey> keyCopier, IDeepCopier<TValue> valueCopier)
    : IDeepCopier<MapField<TKey, TValue>>
{
    /// <inheritdoc/>
    public MapField<TKey, TValue> DeepCopy(MapField<TKey, TValue> input, CopyContext context)
    {
        if (input is null)
            return null;
        if (context.TryGetCopy<MapField<TKey, TValue>>(input, out var copy))
            return copy;
        copy = [];
        context.RecordCopy(input, copy);
        foreach (var (key, value) in input)
            copy[keyCopier.DeepCopy(key, context)] = valueCopier.DeepCopy(value, context);
        return copy;
    }
}
