#nullable disable
using System.Buffers;
using Microsoft.FSharp.Collections;
using Microsoft.FSharp.Core;
using Orleans.Serialization.Buffers;
using Orleans.Serialization.Cloning;
using Orleans.Serialization.Codecs;
using Orleans.Serialization.Serializers;
using Orleans.Serialization.WireProtocol;

namespace Orleans.Serialization;

/// <summary>Fields of unit, which is null.</summary>
[RegisterSerializer]
public sealed class FSharpUnitCodec : IFieldCodec<Unit>
{
    public void WriteField<TBufferWriter>(ref Writer<TBufferWriter> writer, uint fieldIdDelta, Type expectedType, Unit value)
        where TBufferWriter : IBufferWriter<byte> =>
        ReferenceCodec.TryWriteReferenceField(ref writer, fieldIdDelta, expectedType, null);

    public Unit ReadValue<TInput>(ref Reader<TInput> reader, Field field) =>
        ReferenceCodec.ReadReference<Unit, TInput>(ref reader, field);
}

/// <summary>Copies unit.</summary>
[RegisterCopier]
public sealed class FSharpUnitCopier : ShallowCopier<Unit>;

/// <summary>What is written for an option.</summary>
[GenerateSerializer]
public struct FSharpOptionSurrogate<T>
{
    [Id(0)]
    public T Value;
}

/// <summary>Fields of options; no value is null.</summary>
[RegisterSerializer]
public sealed class FSharpOptionCodec<T>(IValueSerializer<FSharpOptionSurrogate<T>> surrogateSerializer)
    : GeneralizedReferenceTypeSurrogateCodec<FSharpOption<T>, FSharpOptionSurrogate<T>>(surrogateSerializer)
{
    public override FSharpOption<T> ConvertFromSurrogate(ref FSharpOptionSurrogate<T> surrogate) =>
        FSharpOption<T>.Some(surrogate.Value);

    public override void ConvertToSurrogate(FSharpOption<T> value, ref FSharpOptionSurrogate<T> surrogate) => surrogate.Value = value.Value;
}

/// <summary>Copies options.</summary>
[RegisterCopier]
public sealed class FSharpOptionCopier<T>(IDeepCopier<T> valueCopier) : IDeepCopier<FSharpOption<T>>
{
    public FSharpOption<T> DeepCopy(FSharpOption<T> input, CopyContext context) =>
        FSharpCopies.CopyOf(
            input, context, valueCopier, static (value, copier, c) => FSharpOption<T>.Some(copier.DeepCopy(value.Value, c)));
}

/// <summary>What is written for an option that is a struct.</summary>
[GenerateSerializer]
public struct FSharpValueOptionSurrogate<T>
{
    [Id(0)]
    public bool IsSome;

    [Id(1)]
    public T Value;
}

/// <summary>Fields of options that are structs.</summary>
[RegisterSerializer]
public sealed class FSharpValueOptionCodec<T>(IValueSerializer<FSharpValueOptionSurrogate<T>> surrogateSerializer)
    : GeneralizedValueTypeSurrogateCodec<FSharpValueOption<T>, FSharpValueOptionSurrogate<T>>(surrogateSerializer)
{
    public override FSharpValueOption<T> ConvertFromSurrogate(ref FSharpValueOptionSurrogate<T> surrogate) =>
        surrogate.IsSome ? FSharpValueOption<T>.NewValueSome(surrogate.Value) : FSharpValueOption<T>.None;

    public override void ConvertToSurrogate(FSharpValueOption<T> value, ref FSharpValueOptionSurrogate<T> surrogate)
    {
        surrogate.IsSome = value.IsSome;
        if (value.IsSome)
            surrogate.Value = value.Value;
    }
}

/// <summary>Copies options that are structs.</summary>
[RegisterCopier]
public sealed class FSharpValueOptionCopier<T>(IDeepCopier<T> valueCopier) : IDeepCopier<FSharpValueOption<T>>
{
    public FSharpValueOption<T> DeepCopy(FSharpValueOption<T> input, CopyContext context) =>
        input.IsSome ? FSharpValueOption<T>.NewValueSome(valueCopier.DeepCopy(input.Value, context)) : input;
}

/// <summary>What is written for a result.</summary>
[GenerateSerializer]
public struct FSharpResultSurrogate<T, TError>
{
    [Id(0)]
    public bool IsOk;

    [Id(1)]
    public T Value;

    [Id(2)]
    public TError Error;
}

/// <summary>Fields of results.</summary>
[RegisterSerializer]
public sealed class FSharpResultCodec<T, TError>(IValueSerializer<FSharpResultSurrogate<T, TError>> surrogateSerializer)
    : GeneralizedValueTypeSurrogateCodec<FSharpResult<T, TError>, FSharpResultSurrogate<T, TError>>(surrogateSerializer)
{
    public override FSharpResult<T, TError> ConvertFromSurrogate(ref FSharpResultSurrogate<T, TError> surrogate) =>
        surrogate.IsOk ? FSharpResult<T, TError>.NewOk(surrogate.Value) : FSharpResult<T, TError>.NewError(surrogate.Error);

    public override void ConvertToSurrogate(FSharpResult<T, TError> value, ref FSharpResultSurrogate<T, TError> surrogate)
    {
        surrogate.IsOk = value.IsOk;
        if (value.IsOk)
            surrogate.Value = value.ResultValue;
        else
            surrogate.Error = value.ErrorValue;
    }
}

/// <summary>Copies results.</summary>
[RegisterCopier]
public sealed class FSharpResultCopier<T, TError>(IDeepCopier<T> valueCopier, IDeepCopier<TError> errorCopier)
    : IDeepCopier<FSharpResult<T, TError>>
{
    public FSharpResult<T, TError> DeepCopy(FSharpResult<T, TError> input, CopyContext context) => input.IsOk
        ? FSharpResult<T, TError>.NewOk(valueCopier.DeepCopy(input.ResultValue, context))
        : FSharpResult<T, TError>.NewError(errorCopier.DeepCopy(input.ErrorValue, context));
}

/// <summary>What is written for a reference.</summary>
[GenerateSerializer]
public struct FSharpRefSurrogate<T>
{
    [Id(0)]
    public T Value;
}

/// <summary>Fields of references.</summary>
[RegisterSerializer]
public sealed class FSharpRefCodec<T>(IValueSerializer<FSharpRefSurrogate<T>> surrogateSerializer)
    : GeneralizedReferenceTypeSurrogateCodec<FSharpRef<T>, FSharpRefSurrogate<T>>(surrogateSerializer)
{
    public override FSharpRef<T> ConvertFromSurrogate(ref FSharpRefSurrogate<T> surrogate) =>
        new(surrogate.Value);

    public override void ConvertToSurrogate(FSharpRef<T> value, ref FSharpRefSurrogate<T> surrogate) => surrogate.Value = value.Value;
}

/// <summary>Copies references.</summary>
[RegisterCopier]
public sealed class FSharpRefCopier<T>(IDeepCopier<T> valueCopier) : IDeepCopier<FSharpRef<T>>
{
    public FSharpRef<T> DeepCopy(FSharpRef<T> input, CopyContext context)
    {
        if (context.TryGetCopy<FSharpRef<T>>(input, out var found))
            return found!;
        var copy = new FSharpRef<T>(default!);
        // Before its value, which may refer to it.
        context.RecordCopy(input, copy);
        copy.Value = valueCopier.DeepCopy(input.Value, context);
        return copy;
    }
}

/// <summary>What is written for a list.</summary>
[GenerateSerializer]
public struct FSharpListSurrogate<T>
{
    [Id(0)]
    public T[] Value;
}

/// <summary>Fields of lists.</summary>
[RegisterSerializer]
public sealed class FSharpListCodec<T>(IValueSerializer<FSharpListSurrogate<T>> surrogateSerializer)
    : GeneralizedReferenceTypeSurrogateCodec<FSharpList<T>, FSharpListSurrogate<T>>(surrogateSerializer)
{
    public override FSharpList<T> ConvertFromSurrogate(ref FSharpListSurrogate<T> surrogate) =>
        ListModule.OfArray(surrogate.Value ?? []);

    public override void ConvertToSurrogate(FSharpList<T> value, ref FSharpListSurrogate<T> surrogate) => surrogate.Value = [.. value];
}

/// <summary>Copies lists.</summary>
[RegisterCopier]
public sealed class FSharpListCopier<T>(IDeepCopier<T> valueCopier) : IDeepCopier<FSharpList<T>>
{
    public FSharpList<T> DeepCopy(FSharpList<T> input, CopyContext context) => FSharpCopies.CopyOf(
        input, context, valueCopier, static (value, copier, c) => ListModule.OfSeq(value.Select(item => copier.DeepCopy(item, c))));
}

/// <summary>What is written for a set.</summary>
[GenerateSerializer]
public struct FSharpSetSurrogate<T>
{
    [Id(0)]
    public T[] Value;
}

/// <summary>Fields of sets.</summary>
[RegisterSerializer]
public sealed class FSharpSetCodec<T>(IValueSerializer<FSharpSetSurrogate<T>> surrogateSerializer)
    : GeneralizedReferenceTypeSurrogateCodec<FSharpSet<T>, FSharpSetSurrogate<T>>(surrogateSerializer)
{
    public override FSharpSet<T> ConvertFromSurrogate(ref FSharpSetSurrogate<T> surrogate) =>
        SetModule.OfArray(surrogate.Value ?? []);

    public override void ConvertToSurrogate(FSharpSet<T> value, ref FSharpSetSurrogate<T> surrogate) => surrogate.Value = [.. value];
}

/// <summary>Copies sets.</summary>
[RegisterCopier]
public sealed class FSharpSetCopier<T>(IDeepCopier<T> valueCopier) : IDeepCopier<FSharpSet<T>>
{
    public FSharpSet<T> DeepCopy(FSharpSet<T> input, CopyContext context) => FSharpCopies.CopyOf(
        input, context, valueCopier, static (value, copier, c) => SetModule.OfSeq(value.Select(item => copier.DeepCopy(item, c))));
}

/// <summary>What is written for a map.</summary>
[GenerateSerializer]
public struct FSharpMapSurrogate<TKey, TValue>
{
    [Id(0)]
    public KeyValuePair<TKey, TValue>[] Value;
}

/// <summary>Fields of maps.</summary>
[RegisterSerializer]
public sealed class FSharpMapCodec<TKey, TValue>(IValueSerializer<FSharpMapSurrogate<TKey, TValue>> surrogateSerializer)
    : GeneralizedReferenceTypeSurrogateCodec<FSharpMap<TKey, TValue>, FSharpMapSurrogate<TKey, TValue>>(surrogateSerializer)
{
    public override FSharpMap<TKey, TValue> ConvertFromSurrogate(ref FSharpMapSurrogate<TKey, TValue> surrogate) =>
        MapModule.OfSeq((surrogate.Value ?? []).Select(static pair => Tuple.Create(pair.Key, pair.Value)));

    public override void ConvertToSurrogate(FSharpMap<TKey, TValue> value, ref FSharpMapSurrogate<TKey, TValue> surrogate) =>
        surrogate.Value = [.. value];
}

/// <summary>Copies maps.</summary>
[RegisterCopier]
public sealed class FSharpMapCopier<TKey, TValue>(IDeepCopier<TKey> keyCopier, IDeepCopier<TValue> valueCopier)
    : IDeepCopier<FSharpMap<TKey, TValue>>
{
    public FSharpMap<TKey, TValue> DeepCopy(FSharpMap<TKey, TValue> input, CopyContext context) =>
        FSharpCopies.Once(input, context, (keyCopier, valueCopier), static (map, copiers, c) =>
            FSharpCopies.IsShallow(copiers.keyCopier) && FSharpCopies.IsShallow(copiers.valueCopier)
                ? map
                : MapModule.OfSeq(map.Select(
                    pair => Tuple.Create(copiers.keyCopier.DeepCopy(pair.Key, c), copiers.valueCopier.DeepCopy(pair.Value, c)))));
}

/// <summary>Copies of values that cannot change, unless what they hold can.</summary>
internal static class FSharpCopies
{
    internal static bool IsShallow(object copier) => copier is IOptionalDeepCopier optional && optional.IsShallowCopyable();

    internal static TValue CopyOf<TValue, TItem>(
        TValue input, CopyContext context, IDeepCopier<TItem> copier, Func<TValue, IDeepCopier<TItem>, CopyContext, TValue> copy)
        where TValue : class =>
        Once(input, context, (copier, copy), static (value, how, c) => IsShallow(how.copier) ? value : how.copy(value, how.copier, c));

    /// <summary>One copy of an object in a context, however often it comes.</summary>
    internal static TValue Once<TValue, TState>(
        TValue input, CopyContext context, TState state, Func<TValue, TState, CopyContext, TValue> copy)
        where TValue : class
    {
        if (context.TryGetCopy<TValue>(input, out var found))
            return found!;
        var made = copy(input, state, context);
        context.RecordCopy(input, made);
        return made;
    }
}
