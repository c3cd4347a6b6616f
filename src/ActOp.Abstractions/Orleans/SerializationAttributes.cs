using Microsoft.Extensions.DependencyInjection;

namespace Orleans;

/// <summary>Asks for a generated codec: the type can then be an argument, a result or part of one.</summary>
[AttributeUsage(AttributeTargets.Class | AttributeTargets.Struct | AttributeTargets.Enum)]
public sealed class GenerateSerializerAttribute : Attribute
{
    /// <summary>Which members without <see cref="IdAttribute"/> get an id of their own.</summary>
    public GenerateFieldIds GenerateFieldIds { get; init; }

    /// <summary>True, the default for records, when the parameters of the primary constructor are members with ids.</summary>
    public bool IncludePrimaryConstructorParameters { get; init; }
}

/// <summary>
/// The number of a member on the wire. Unique among the members that one type declares itself, and never used again for another.
/// </summary>
[AttributeUsage(
    AttributeTargets.Class | AttributeTargets.Struct | AttributeTargets.Enum | AttributeTargets.Method | AttributeTargets.Property
    | AttributeTargets.Field | AttributeTargets.Parameter)]
public sealed class IdAttribute : Attribute
{
    /// <summary>Sets the number.</summary>
    public IdAttribute(uint id) => Id = id;

    /// <summary>The number.</summary>
    public uint Id { get; }
}

/// <summary>The name of a type or method on the wire, which stays when the code is renamed.</summary>
[AttributeUsage(
    AttributeTargets.Class | AttributeTargets.Struct | AttributeTargets.Enum | AttributeTargets.Method | AttributeTargets.Interface,
    AllowMultiple = true)]
public sealed class AliasAttribute : Attribute
{
    /// <summary>Sets the name.</summary>
    public AliasAttribute(string alias)
    {
        ArgumentException.ThrowIfNullOrWhiteSpace(alias);
        Alias = alias;
    }

    /// <summary>The name.</summary>
    public string Alias { get; }
}

/// <summary>A name on the wire that is put together from types and texts.</summary>
[AttributeUsage(AttributeTargets.Class | AttributeTargets.Struct | AttributeTargets.Enum | AttributeTargets.Interface,
    AllowMultiple = true)]
public sealed class CompoundTypeAliasAttribute : Attribute
{
    /// <summary>Sets the parts.</summary>
    public CompoundTypeAliasAttribute(params object[] components) => Components = components;

    /// <summary>The parts: types and texts.</summary>
    public object[] Components { get; }
}

/// <summary>Promises that values are never changed after they were passed on: they are shared instead of copied.</summary>
[AttributeUsage(
    AttributeTargets.Class | AttributeTargets.Struct | AttributeTargets.Property | AttributeTargets.Field | AttributeTargets.Parameter
    | AttributeTargets.ReturnValue, Inherited = false)]
public sealed class ImmutableAttribute : Attribute
{
}

/// <summary>Which members get an id on the wire without saying so.</summary>
public enum GenerateFieldIds
{
    /// <summary>None: every member that is written has an <see cref="IdAttribute"/>.</summary>
    None = 0,

    /// <summary>All public properties, in an id space made from their names.</summary>
    PublicProperties = 1,
}

/// <summary>
/// The constructor that makes objects of the class when they are read or copied, and requests of the class. Its parameters are services. A
/// class without services that a constructor asks for cannot be read.
/// </summary>
[AttributeUsage(AttributeTargets.Constructor)]
public sealed class OrleansConstructorAttribute : ActivatorUtilitiesConstructorAttribute
{
}

/// <summary>As <see cref="OrleansConstructorAttribute"/>.</summary>
[AttributeUsage(AttributeTargets.Constructor)]
public sealed class GeneratedActivatorConstructorAttribute : ActivatorUtilitiesConstructorAttribute
{
}

/// <summary>
/// Members that have the default value of their type are not written. A member that the constructor sets to another value then keeps that
/// value when it is read.
/// </summary>
[AttributeUsage(AttributeTargets.Class | AttributeTargets.Struct)]
public sealed class OmitDefaultMemberValuesAttribute : Attribute
{
}

/// <summary>
/// Calls methods of a class before and after objects of the marked type are written, read and copied: <c>OnSerializing</c>,
/// <c>OnSerialized</c>, <c>OnDeserializing</c>, <c>OnDeserialized</c> with the object, <c>OnCopying</c> and <c>OnCopied</c> with original
/// and copy. Each may be missing. One object of the class serves all threads; if its constructor has parameters, they are services, and
/// each silo, client and serializer has one.
/// </summary>
[AttributeUsage(AttributeTargets.Class | AttributeTargets.Struct, AllowMultiple = true)]
public sealed class SerializationCallbacksAttribute : Attribute
{
    /// <summary>Sets the class with the methods.</summary>
    public SerializationCallbacksAttribute(Type hookType) => HookType = hookType;

    /// <summary>The class with the methods.</summary>
    public Type HookType { get; }
}

/// <summary>The marked base class has nothing to write and leaves no trace on the wire.</summary>
[AttributeUsage(AttributeTargets.Class, Inherited = false)]
public sealed class SerializerTransparentAttribute : Attribute
{
}

/// <summary>Objects of the marked type are never shared or cyclic: their identity within a message is not kept.</summary>
[AttributeUsage(AttributeTargets.Class)]
public sealed class SuppressReferenceTrackingAttribute : Attribute
{
}

/// <summary>Objects of the marked type are created by a registered activator.</summary>
[AttributeUsage(AttributeTargets.Class | AttributeTargets.Struct)]
public sealed class UseActivatorAttribute : Attribute
{
}

/// <summary>Registers the marked activator for the type that it creates.</summary>
[AttributeUsage(AttributeTargets.Class | AttributeTargets.Struct)]
public sealed class RegisterActivatorAttribute : Attribute
{
}

/// <summary>Registers the marked <see cref="IConverter{TValue, TSurrogate}"/>.</summary>
[AttributeUsage(AttributeTargets.Class | AttributeTargets.Struct)]
public sealed class RegisterConverterAttribute : Attribute
{
}

/// <summary>Registers the marked copier for the type that it handles.</summary>
[AttributeUsage(AttributeTargets.Class | AttributeTargets.Struct)]
public sealed class RegisterCopierAttribute : Attribute
{
}

/// <summary>Registers the marked codec for the type that it handles. In messages its data are one value.</summary>
[AttributeUsage(AttributeTargets.Class | AttributeTargets.Struct)]
public sealed class RegisterSerializerAttribute : Attribute
{
}

/// <summary>Writes and reads a type that cannot be marked, by way of one that is.</summary>
/// <typeparam name="TValue">The type.</typeparam>
/// <typeparam name="TSurrogate">What is written in its place.</typeparam>
public interface IConverter<TValue, TSurrogate>
    where TSurrogate : struct
{
    /// <summary>The value that <paramref name="surrogate"/> stands for.</summary>
    TValue ConvertFromSurrogate(in TSurrogate surrogate);

    /// <summary>What is written for <paramref name="value"/>.</summary>
    TSurrogate ConvertToSurrogate(in TValue value);
}

/// <summary>Fills an existing object from what was written in its place, so that types derived from it can be read.</summary>
/// <typeparam name="TValue">The type.</typeparam>
/// <typeparam name="TSurrogate">What is written in its place.</typeparam>
public interface IPopulator<TValue, TSurrogate>
    where TValue : class
    where TSurrogate : struct
{
    /// <summary>Fills <paramref name="value"/> from <paramref name="surrogate"/>.</summary>
    void Populate(in TSurrogate surrogate, TValue value);
}
