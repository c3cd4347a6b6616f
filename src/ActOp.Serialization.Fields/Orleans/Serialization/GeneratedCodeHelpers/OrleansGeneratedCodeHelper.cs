using System.Buffers;
using System.Reflection;
using Microsoft.Extensions.DependencyInjection;
using Orleans.Serialization.Buffers;
using Orleans.Serialization.Cloning;
using Orleans.Serialization.Codecs;
using Orleans.Serialization.Serializers;
using Orleans.Serialization.WireProtocol;

namespace Orleans.Serialization.GeneratedCodeHelpers;

/// <summary>What codecs that were written by hand in the style of generated ones call.</summary>
public static class OrleansGeneratedCodeHelper
{
    /// <summary>A codec or copier for the constructor of another, which may ask for itself.</summary>
    public static TService GetService<TService>(object caller, ICodecProvider codecProvider)
    {
        ArgumentNullException.ThrowIfNull(codecProvider);
        if (caller is TService self)
            return self;
        return (TService)(codecProvider.Services.GetService(typeof(TService))
            ?? ActivatorUtilities.CreateInstance(codecProvider.Services, typeof(TService)));
    }

    /// <summary>The service, which finds its codec at the first use; the caller itself when it is what was asked for.</summary>
    public static TService UnwrapService<TService>(object caller, TService service) => caller is TService self ? self : service;

    /// <summary>Null for a copier that makes no copies.</summary>
    public static IDeepCopier<T>? GetOptionalCopier<T>(IDeepCopier<T> copier) =>
        copier is IOptionalDeepCopier optional && optional.IsShallowCopyable() ? null : copier;

    public static object InvokableThrowArgumentOutOfRange(int index, int maxArgs) =>
        throw new ArgumentOutOfRangeException(nameof(index), "The argument index value " + index + " must be between 0 and " + maxArgs);

    /// <summary>Skips fields up to the end of the members of a class or its base.</summary>
    public static void ConsumeEndBaseOrEndObject<TInput>(this ref Reader<TInput> reader)
    {
        Field field = default;
        reader.ReadFieldHeader(ref field);
        reader.ConsumeEndBaseOrEndObject(ref field);
    }

    /// <inheritdoc cref="ConsumeEndBaseOrEndObject{TInput}(ref Reader{TInput})"/>
    public static void ConsumeEndBaseOrEndObject<TInput>(this ref Reader<TInput> reader, scoped ref Field field)
    {
        while (!field.IsEndBaseOrEndObject)
        {
            reader.ConsumeUnknownField(ref field);
            reader.ReadFieldHeader(ref field);
        }
    }

    /// <summary>Writes an object whose class is not the one that the codec is for.</summary>
    public static void SerializeUnexpectedType<TBufferWriter>(
        this ref Writer<TBufferWriter> writer, uint fieldIdDelta, Type expectedType, object value)
        where TBufferWriter : IBufferWriter<byte> =>
        writer.Session.CodecProvider.GetCodec(value.GetType()).WriteField(ref writer, fieldIdDelta, expectedType, value);

    /// <summary>Reads an object whose class is not the one that the codec is for.</summary>
    public static TField DeserializeUnexpectedType<TInput, TField>(this ref Reader<TInput> reader, scoped ref Field field)
        where TField : class =>
        reader.Session.CodecProvider.GetCodec(field.FieldType!).ReadValue(ref reader, field) switch
        {
            null => null!,
            TField value => value,
            var other =>
                throw new SerializerException(
                    "The data have an object of type " + other.GetType() + " where " + typeof(TField) + " is expected."),
        };

    public static MethodInfo? GetMethodInfoOrDefault(
        Type? interfaceType, string methodName, Type[]? methodTypeParameters, Type[]? parameterTypes)
    {
        foreach (var type in interfaceType is null ? [] : (IEnumerable<Type>)[interfaceType, .. interfaceType.GetInterfaces()])
        {
            foreach (var method in type.GetMethods(BindingFlags.Instance | BindingFlags.Public | BindingFlags.NonPublic))
            {
                if (method.Name != methodName || method.GetGenericArguments().Length != (methodTypeParameters?.Length ?? 0))
                    continue;
                var made = methodTypeParameters is { Length: > 0 } ? method.MakeGenericMethod(methodTypeParameters) : method;
                if (made.GetParameters().Select(static p => p.ParameterType).SequenceEqual(parameterTypes ?? []))
                    return made;
            }
        }

        return null;
    }

    /// <summary>Copies exceptions with members of their own.</summary>
    /// <typeparam name="T">The exception.</typeparam>
    /// <typeparam name="B">Its base class.</typeparam>
    public abstract class ExceptionCopier<T, B> : IDeepCopier<T>, IBaseCopier<T>
        where T : B
        where B : Exception
    {
        protected ExceptionCopier(ICodecProvider codecProvider) => ArgumentNullException.ThrowIfNull(codecProvider);

        /// <summary>Exceptions are shared, as a rethrown one is.</summary>
        public T? DeepCopy(T original, CopyContext context) => original;

        public virtual void DeepCopy(T input, T output, CopyContext context)
        {
        }

        T IDeepCopier<T>.DeepCopy(T input, CopyContext context) => input;
    }
}
