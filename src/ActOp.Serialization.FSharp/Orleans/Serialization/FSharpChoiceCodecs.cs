#nullable disable
using Microsoft.FSharp.Core;
using Orleans.Serialization.Cloning;
using Orleans.Serialization.Codecs;
using Orleans.Serialization.Serializers;

namespace Orleans.Serialization;

/// <summary>What is written for a choice.</summary>
[GenerateSerializer]
public struct FSharpChoiceSurrogate<T1, T2>
{
    [Id(0)]
    public byte Tag;

    [Id(1)]
    public T1 Value1;

    [Id(2)]
    public T2 Value2;
}

/// <summary>Fields of choices.</summary>
[RegisterSerializer]
public sealed class FSharpChoiceCodec<T1, T2>(
    IValueSerializer<FSharpChoiceSurrogate<T1, T2>> surrogateSerializer)
    : GeneralizedReferenceTypeSurrogateCodec<
        FSharpChoice<T1, T2>, FSharpChoiceSurrogate<T1, T2>>(surrogateSerializer)
{
    public override FSharpChoice<T1, T2> ConvertFromSurrogate(
        ref FSharpChoiceSurrogate<T1, T2> surrogate) =>
        surrogate.Tag switch
        {
            0 => FSharpChoice<T1, T2>.NewChoice1Of2(surrogate.Value1),
            _ => FSharpChoice<T1, T2>.NewChoice2Of2(surrogate.Value2),
        };

    public override void ConvertToSurrogate(
        FSharpChoice<T1, T2> value, ref FSharpChoiceSurrogate<T1, T2> surrogate)
    {
        surrogate.Tag = (byte)value.Tag;
        switch (value)
        {
            case FSharpChoice<T1, T2>.Choice1Of2 one:
                surrogate.Value1 = one.Item;
                break;
            case FSharpChoice<T1, T2>.Choice2Of2 one:
                surrogate.Value2 = one.Item;
                break;
        }
    }
}

/// <summary>Copies choices.</summary>
[RegisterCopier]
public sealed class FSharpChoiceCopier<T1, T2>(
    IDeepCopier<T1> copier1, IDeepCopier<T2> copier2)
    : IDeepCopier<FSharpChoice<T1, T2>>
{
    public FSharpChoice<T1, T2> DeepCopy(FSharpChoice<T1, T2> input, CopyContext context) =>
        FSharpCopies.Once(input, context, (copier1, copier2), static (value, copiers, c) => value switch
        {
            FSharpChoice<T1, T2>.Choice1Of2 one =>
                FSharpChoice<T1, T2>.NewChoice1Of2(copiers.copier1.DeepCopy(one.Item, c)),
            FSharpChoice<T1, T2>.Choice2Of2 one =>
                FSharpChoice<T1, T2>.NewChoice2Of2(copiers.copier2.DeepCopy(one.Item, c)),
            _ => value,
        });
}

/// <summary>What is written for a choice.</summary>
[GenerateSerializer]
public struct FSharpChoiceSurrogate<T1, T2, T3>
{
    [Id(0)]
    public byte Tag;

    [Id(1)]
    public T1 Value1;

    [Id(2)]
    public T2 Value2;

    [Id(3)]
    public T3 Value3;
}

/// <summary>Fields of choices.</summary>
[RegisterSerializer]
public sealed class FSharpChoiceCodec<T1, T2, T3>(
    IValueSerializer<FSharpChoiceSurrogate<T1, T2, T3>> surrogateSerializer)
    : GeneralizedReferenceTypeSurrogateCodec<
        FSharpChoice<T1, T2, T3>, FSharpChoiceSurrogate<T1, T2, T3>>(surrogateSerializer)
{
    public override FSharpChoice<T1, T2, T3> ConvertFromSurrogate(
        ref FSharpChoiceSurrogate<T1, T2, T3> surrogate) =>
        surrogate.Tag switch
        {
            0 => FSharpChoice<T1, T2, T3>.NewChoice1Of3(surrogate.Value1),
            1 => FSharpChoice<T1, T2, T3>.NewChoice2Of3(surrogate.Value2),
            _ => FSharpChoice<T1, T2, T3>.NewChoice3Of3(surrogate.Value3),
        };

    public override void ConvertToSurrogate(
        FSharpChoice<T1, T2, T3> value, ref FSharpChoiceSurrogate<T1, T2, T3> surrogate)
    {
        surrogate.Tag = (byte)value.Tag;
        switch (value)
        {
            case FSharpChoice<T1, T2, T3>.Choice1Of3 one:
                surrogate.Value1 = one.Item;
                break;
            case FSharpChoice<T1, T2, T3>.Choice2Of3 one:
                surrogate.Value2 = one.Item;
                break;
            case FSharpChoice<T1, T2, T3>.Choice3Of3 one:
                surrogate.Value3 = one.Item;
                break;
        }
    }
}

/// <summary>Copies choices.</summary>
[RegisterCopier]
public sealed class FSharpChoiceCopier<T1, T2, T3>(
    IDeepCopier<T1> copier1, IDeepCopier<T2> copier2, IDeepCopier<T3> copier3)
    : IDeepCopier<FSharpChoice<T1, T2, T3>>
{
    public FSharpChoice<T1, T2, T3> DeepCopy(FSharpChoice<T1, T2, T3> input, CopyContext context) =>
        FSharpCopies.Once(input, context, (copier1, copier2, copier3), static (value, copiers, c) => value switch
        {
            FSharpChoice<T1, T2, T3>.Choice1Of3 one =>
                FSharpChoice<T1, T2, T3>.NewChoice1Of3(copiers.copier1.DeepCopy(one.Item, c)),
            FSharpChoice<T1, T2, T3>.Choice2Of3 one =>
                FSharpChoice<T1, T2, T3>.NewChoice2Of3(copiers.copier2.DeepCopy(one.Item, c)),
            FSharpChoice<T1, T2, T3>.Choice3Of3 one =>
                FSharpChoice<T1, T2, T3>.NewChoice3Of3(copiers.copier3.DeepCopy(one.Item, c)),
            _ => value,
        });
}

/// <summary>What is written for a choice.</summary>
[GenerateSerializer]
public struct FSharpChoiceSurrogate<T1, T2, T3, T4>
{
    [Id(0)]
    public byte Tag;

    [Id(1)]
    public T1 Value1;

    [Id(2)]
    public T2 Value2;

    [Id(3)]
    public T3 Value3;

    [Id(4)]
    public T4 Value4;
}

/// <summary>Fields of choices.</summary>
[RegisterSerializer]
public sealed class FSharpChoiceCodec<T1, T2, T3, T4>(
    IValueSerializer<FSharpChoiceSurrogate<T1, T2, T3, T4>> surrogateSerializer)
    : GeneralizedReferenceTypeSurrogateCodec<
        FSharpChoice<T1, T2, T3, T4>, FSharpChoiceSurrogate<T1, T2, T3, T4>>(surrogateSerializer)
{
    public override FSharpChoice<T1, T2, T3, T4> ConvertFromSurrogate(
        ref FSharpChoiceSurrogate<T1, T2, T3, T4> surrogate) =>
        surrogate.Tag switch
        {
            0 => FSharpChoice<T1, T2, T3, T4>.NewChoice1Of4(surrogate.Value1),
            1 => FSharpChoice<T1, T2, T3, T4>.NewChoice2Of4(surrogate.Value2),
            2 => FSharpChoice<T1, T2, T3, T4>.NewChoice3Of4(surrogate.Value3),
            _ => FSharpChoice<T1, T2, T3, T4>.NewChoice4Of4(surrogate.Value4),
        };

    public override void ConvertToSurrogate(
        FSharpChoice<T1, T2, T3, T4> value, ref FSharpChoiceSurrogate<T1, T2, T3, T4> surrogate)
    {
        surrogate.Tag = (byte)value.Tag;
        switch (value)
        {
            case FSharpChoice<T1, T2, T3, T4>.Choice1Of4 one:
                surrogate.Value1 = one.Item;
                break;
            case FSharpChoice<T1, T2, T3, T4>.Choice2Of4 one:
                surrogate.Value2 = one.Item;
                break;
            case FSharpChoice<T1, T2, T3, T4>.Choice3Of4 one:
                surrogate.Value3 = one.Item;
                break;
            case FSharpChoice<T1, T2, T3, T4>.Choice4Of4 one:
                surrogate.Value4 = one.Item;
                break;
        }
    }
}

/// <summary>Copies choices.</summary>
[RegisterCopier]
public sealed class FSharpChoiceCopier<T1, T2, T3, T4>(
    IDeepCopier<T1> copier1, IDeepCopier<T2> copier2, IDeepCopier<T3> copier3,
    IDeepCopier<T4> copier4)
    : IDeepCopier<FSharpChoice<T1, T2, T3, T4>>
{
    public FSharpChoice<T1, T2, T3, T4> DeepCopy(FSharpChoice<T1, T2, T3, T4> input, CopyContext context) =>
        FSharpCopies.Once(input, context, (copier1, copier2, copier3, copier4), static (value, copiers, c) => value switch
        {
            FSharpChoice<T1, T2, T3, T4>.Choice1Of4 one =>
                FSharpChoice<T1, T2, T3, T4>.NewChoice1Of4(copiers.copier1.DeepCopy(one.Item, c)),
            FSharpChoice<T1, T2, T3, T4>.Choice2Of4 one =>
                FSharpChoice<T1, T2, T3, T4>.NewChoice2Of4(copiers.copier2.DeepCopy(one.Item, c)),
            FSharpChoice<T1, T2, T3, T4>.Choice3Of4 one =>
                FSharpChoice<T1, T2, T3, T4>.NewChoice3Of4(copiers.copier3.DeepCopy(one.Item, c)),
            FSharpChoice<T1, T2, T3, T4>.Choice4Of4 one =>
                FSharpChoice<T1, T2, T3, T4>.NewChoice4Of4(copiers.copier4.DeepCopy(one.Item, c)),
            _ => value,
        });
}

/// <summary>What is written for a choice.</summary>
[GenerateSerializer]
public struct FSharpChoiceSurrogate<T1, T2, T3, T4, T5>
{
    [Id(0)]
    public byte Tag;

    [Id(1)]
    public T1 Value1;

    [Id(2)]
    public T2 Value2;

    [Id(3)]
    public T3 Value3;

    [Id(4)]
    public T4 Value4;

    [Id(5)]
    public T5 Value5;
}

/// <summary>Fields of choices.</summary>
[RegisterSerializer]
public sealed class FSharpChoiceCodec<T1, T2, T3, T4, T5>(
    IValueSerializer<FSharpChoiceSurrogate<T1, T2, T3, T4, T5>> surrogateSerializer)
    : GeneralizedReferenceTypeSurrogateCodec<
        FSharpChoice<T1, T2, T3, T4, T5>, FSharpChoiceSurrogate<T1, T2, T3, T4, T5>>(surrogateSerializer)
{
    public override FSharpChoice<T1, T2, T3, T4, T5> ConvertFromSurrogate(
        ref FSharpChoiceSurrogate<T1, T2, T3, T4, T5> surrogate) =>
        surrogate.Tag switch
        {
            0 => FSharpChoice<T1, T2, T3, T4, T5>.NewChoice1Of5(surrogate.Value1),
            1 => FSharpChoice<T1, T2, T3, T4, T5>.NewChoice2Of5(surrogate.Value2),
            2 => FSharpChoice<T1, T2, T3, T4, T5>.NewChoice3Of5(surrogate.Value3),
            3 => FSharpChoice<T1, T2, T3, T4, T5>.NewChoice4Of5(surrogate.Value4),
            _ => FSharpChoice<T1, T2, T3, T4, T5>.NewChoice5Of5(surrogate.Value5),
        };

    public override void ConvertToSurrogate(
        FSharpChoice<T1, T2, T3, T4, T5> value, ref FSharpChoiceSurrogate<T1, T2, T3, T4, T5> surrogate)
    {
        surrogate.Tag = (byte)value.Tag;
        switch (value)
        {
            case FSharpChoice<T1, T2, T3, T4, T5>.Choice1Of5 one:
                surrogate.Value1 = one.Item;
                break;
            case FSharpChoice<T1, T2, T3, T4, T5>.Choice2Of5 one:
                surrogate.Value2 = one.Item;
                break;
            case FSharpChoice<T1, T2, T3, T4, T5>.Choice3Of5 one:
                surrogate.Value3 = one.Item;
                break;
            case FSharpChoice<T1, T2, T3, T4, T5>.Choice4Of5 one:
                surrogate.Value4 = one.Item;
                break;
            case FSharpChoice<T1, T2, T3, T4, T5>.Choice5Of5 one:
                surrogate.Value5 = one.Item;
                break;
        }
    }
}

/// <summary>Copies choices.</summary>
[RegisterCopier]
public sealed class FSharpChoiceCopier<T1, T2, T3, T4, T5>(
    IDeepCopier<T1> copier1, IDeepCopier<T2> copier2, IDeepCopier<T3> copier3,
    IDeepCopier<T4> copier4, IDeepCopier<T5> copier5)
    : IDeepCopier<FSharpChoice<T1, T2, T3, T4, T5>>
{
    public FSharpChoice<T1, T2, T3, T4, T5> DeepCopy(FSharpChoice<T1, T2, T3, T4, T5> input, CopyContext context) =>
        FSharpCopies.Once(input, context, (copier1, copier2, copier3, copier4, copier5), static (value, copiers, c) => value switch
        {
            FSharpChoice<T1, T2, T3, T4, T5>.Choice1Of5 one =>
                FSharpChoice<T1, T2, T3, T4, T5>.NewChoice1Of5(copiers.copier1.DeepCopy(one.Item, c)),
            FSharpChoice<T1, T2, T3, T4, T5>.Choice2Of5 one =>
                FSharpChoice<T1, T2, T3, T4, T5>.NewChoice2Of5(copiers.copier2.DeepCopy(one.Item, c)),
            FSharpChoice<T1, T2, T3, T4, T5>.Choice3Of5 one =>
                FSharpChoice<T1, T2, T3, T4, T5>.NewChoice3Of5(copiers.copier3.DeepCopy(one.Item, c)),
            FSharpChoice<T1, T2, T3, T4, T5>.Choice4Of5 one =>
                FSharpChoice<T1, T2, T3, T4, T5>.NewChoice4Of5(copiers.copier4.DeepCopy(one.Item, c)),
            FSharpChoice<T1, T2, T3, T4, T5>.Choice5Of5 one =>
                FSharpChoice<T1, T2, T3, T4, T5>.NewChoice5Of5(copiers.copier5.DeepCopy(one.Item, c)),
            _ => value,
        });
}

/// <summary>What is written for a choice.</summary>
[GenerateSerializer]
public struct FSharpChoiceSurrogate<T1, T2, T3, T4, T5, T6>
{
    [Id(0)]
    public byte Tag;

    [Id(1)]
    public T1 Value1;

    [Id(2)]
    public T2 Value2;

    [Id(3)]
    public T3 Value3;

    [Id(4)]
    public T4 Value4;

    [Id(5)]
    public T5 Value5;

    [Id(6)]
    public T6 Value6;
}

/// <summary>Fields of choices.</summary>
[RegisterSerializer]
public sealed class FSharpChoiceCodec<T1, T2, T3, T4, T5, T6>(
    IValueSerializer<FSharpChoiceSurrogate<T1, T2, T3, T4, T5, T6>> surrogateSerializer)
    : GeneralizedReferenceTypeSurrogateCodec<
        FSharpChoice<T1, T2, T3, T4, T5, T6>, FSharpChoiceSurrogate<T1, T2, T3, T4, T5, T6>>(surrogateSerializer)
{
    public override FSharpChoice<T1, T2, T3, T4, T5, T6> ConvertFromSurrogate(
        ref FSharpChoiceSurrogate<T1, T2, T3, T4, T5, T6> surrogate) =>
        surrogate.Tag switch
        {
            0 => FSharpChoice<T1, T2, T3, T4, T5, T6>.NewChoice1Of6(surrogate.Value1),
            1 => FSharpChoice<T1, T2, T3, T4, T5, T6>.NewChoice2Of6(surrogate.Value2),
            2 => FSharpChoice<T1, T2, T3, T4, T5, T6>.NewChoice3Of6(surrogate.Value3),
            3 => FSharpChoice<T1, T2, T3, T4, T5, T6>.NewChoice4Of6(surrogate.Value4),
            4 => FSharpChoice<T1, T2, T3, T4, T5, T6>.NewChoice5Of6(surrogate.Value5),
            _ => FSharpChoice<T1, T2, T3, T4, T5, T6>.NewChoice6Of6(surrogate.Value6),
        };

    public override void ConvertToSurrogate(
        FSharpChoice<T1, T2, T3, T4, T5, T6> value, ref FSharpChoiceSurrogate<T1, T2, T3, T4, T5, T6> surrogate)
    {
        surrogate.Tag = (byte)value.Tag;
        switch (value)
        {
            case FSharpChoice<T1, T2, T3, T4, T5, T6>.Choice1Of6 one:
                surrogate.Value1 = one.Item;
                break;
            case FSharpChoice<T1, T2, T3, T4, T5, T6>.Choice2Of6 one:
                surrogate.Value2 = one.Item;
                break;
            case FSharpChoice<T1, T2, T3, T4, T5, T6>.Choice3Of6 one:
                surrogate.Value3 = one.Item;
                break;
            case FSharpChoice<T1, T2, T3, T4, T5, T6>.Choice4Of6 one:
                surrogate.Value4 = one.Item;
                break;
            case FSharpChoice<T1, T2, T3, T4, T5, T6>.Choice5Of6 one:
                surrogate.Value5 = one.Item;
                break;
            case FSharpChoice<T1, T2, T3, T4, T5, T6>.Choice6Of6 one:
                surrogate.Value6 = one.Item;
                break;
        }
    }
}

/// <summary>Copies choices.</summary>
[RegisterCopier]
public sealed class FSharpChoiceCopier<T1, T2, T3, T4, T5, T6>(
    IDeepCopier<T1> copier1, IDeepCopier<T2> copier2, IDeepCopier<T3> copier3,
    IDeepCopier<T4> copier4, IDeepCopier<T5> copier5, IDeepCopier<T6> copier6)
    : IDeepCopier<FSharpChoice<T1, T2, T3, T4, T5, T6>>
{
    public FSharpChoice<T1, T2, T3, T4, T5, T6> DeepCopy(FSharpChoice<T1, T2, T3, T4, T5, T6> input, CopyContext context) =>
        FSharpCopies.Once(input, context, (copier1, copier2, copier3, copier4, copier5, copier6), static (value, copiers, c) => value switch
        {
            FSharpChoice<T1, T2, T3, T4, T5, T6>.Choice1Of6 one =>
                FSharpChoice<T1, T2, T3, T4, T5, T6>.NewChoice1Of6(copiers.copier1.DeepCopy(one.Item, c)),
            FSharpChoice<T1, T2, T3, T4, T5, T6>.Choice2Of6 one =>
                FSharpChoice<T1, T2, T3, T4, T5, T6>.NewChoice2Of6(copiers.copier2.DeepCopy(one.Item, c)),
            FSharpChoice<T1, T2, T3, T4, T5, T6>.Choice3Of6 one =>
                FSharpChoice<T1, T2, T3, T4, T5, T6>.NewChoice3Of6(copiers.copier3.DeepCopy(one.Item, c)),
            FSharpChoice<T1, T2, T3, T4, T5, T6>.Choice4Of6 one =>
                FSharpChoice<T1, T2, T3, T4, T5, T6>.NewChoice4Of6(copiers.copier4.DeepCopy(one.Item, c)),
            FSharpChoice<T1, T2, T3, T4, T5, T6>.Choice5Of6 one =>
                FSharpChoice<T1, T2, T3, T4, T5, T6>.NewChoice5Of6(copiers.copier5.DeepCopy(one.Item, c)),
            FSharpChoice<T1, T2, T3, T4, T5, T6>.Choice6Of6 one =>
                FSharpChoice<T1, T2, T3, T4, T5, T6>.NewChoice6Of6(copiers.copier6.DeepCopy(one.Item, c)),
            _ => value,
        });
}
