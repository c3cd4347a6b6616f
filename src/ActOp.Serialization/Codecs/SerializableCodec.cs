using System.Collections.Concurrent;
using System.Reflection;
using System.Runtime.CompilerServices;
using System.Runtime.Serialization;
using ActOp.Wire;
using Orleans.Serialization;

#pragma warning disable SYSLIB0050, SYSLIB0051 // Types that implement ISerializable are read and written by their own code.

namespace ActOp.Serialization.Codecs;

/// <summary>
/// A type that writes itself by <see cref="ISerializable"/>: count, then names and values. Its serialization constructor reads them;
/// methods with [OnSerializing], [OnSerialized], [OnDeserializing] and [OnDeserialized] and IDeserializationCallback are called.
/// </summary>
/// <remarks>
/// Only types of assemblies with generated code, and of those that an application allows, are read: a peer can name no other. Values may be
/// of any type with a codec. An object that refers to itself is refused, because its constructor would see it half made.
/// </remarks>
internal sealed class SerializableCodec<T> : Codec<T>
    where T : ISerializable
{
    private static readonly SerializableType Shape = SerializableType.ForType(typeof(T))
        ?? throw new CodecNotFoundException("The type " + typeof(T) + " implements ISerializable and has no serialization constructor.");

    public override bool IsImmutable => false;

    public override T Copy(T value, CopyContext context)
    {
        if (value is null)
            return value!;
        if (value.GetType() != typeof(T))
            return (T)AnyCodec.For(value.GetType()).Copy(value, context);
        if (context.TryGetCopy<object>(value, out var found) && found is not null)
            return (T)found;
        context.Enter();
        var info = Shape.Write(value);
        var copied = new SerializationInfo(typeof(T), Shape.Converter);
        foreach (var entry in info)
            copied.AddValue(entry.Name, Codec<object?>.Default.Copy(entry.Value, context));
        var copy = Shape.Read(copied);
        context.RecordCopy(value, copy);
        context.Exit();
        return (T)copy;
    }

    public override void Write(ref WireWriter writer, T value)
    {
        if (value is null)
        {
            writer.WriteByte(Header.Null);
            return;
        }

        if (value.GetType() != typeof(T))
        {
            AnyCodec.For(value.GetType()).WriteUntracked(ref writer, value);
            return;
        }

        writer.WriteByte(Header.Exact);
        writer.Session.Enter();
        WriteEntries(ref writer, Shape.Write(value));
        writer.Session.Exit();
    }

    public override T Read(ref WireReader reader)
    {
        var header = reader.ReadVarUInt32();
        switch (header)
        {
            case Header.Null:
                return default!;
            case Header.Exact:
                reader.Session.Enter();
                reader.Session.CountDecoded(Footprint.ObjectBytes * 8);
                var value = (T)Shape.Read(ReadEntries(ref reader, typeof(T)));
                reader.Session.Exit();
                return value;
            case Header.Typed:
                return AnyCodec.Read(ref reader, -1) is T other ? other : throw Parsing.Invalid(typeof(T).Name);
            default:
                throw Parsing.Invalid(typeof(T).Name);
        }
    }

    private static void WriteEntries(ref WireWriter writer, SerializationInfo info)
    {
        writer.WriteVarUInt32((uint)info.MemberCount);
        foreach (var entry in info)
            SerializableEntries.Write(ref writer, entry);
    }

    private static SerializationInfo ReadEntries(ref WireReader reader, Type type)
    {
        var info = new SerializationInfo(type, Shape.Converter);
        SerializableEntries.Read(ref reader, info);
        return info;
    }
}

/// <summary>Names and values of objects that implement ISerializable.</summary>
internal static class SerializableEntries
{
    private static readonly HashSet<string> OfExceptions = [.. NamesOf(new Exception())];

    internal static void Write(ref WireWriter writer, SerializationEntry entry)
    {
        writer.WriteString(entry.Name);
        Codec<object?>.Default.Write(ref writer, entry.Value);
    }

    /// <summary>Reads a count and so many entries.</summary>
    internal static void Read(ref WireReader reader, SerializationInfo info)
    {
        var count = reader.ReadCount(2);
        reader.Session.CountDecoded(Footprint.OfNodes<SerializationEntry>(count));
        for (var i = 0; i < count; i++)
        {
            var name = reader.ReadString();
            var value = Codec<object?>.Default.Read(ref reader);
            try
            {
                info.AddValue(name, value);
            }
            catch (SerializationException exception)
            {
                throw Parsing.Invalid("entry of a serializable object", exception);
            }
        }
    }

    /// <summary>True for an exception of an application that writes members of its own by ISerializable.</summary>
    internal static bool AreOf(Type exception) =>
        SerializableTypes.IsOfApplication(exception) && SerializableType.ForType(exception) is not null
        && exception.GetMethod(nameof(ISerializable.GetObjectData))!.DeclaringType is { } declaring
        && SerializableTypes.IsOfApplication(declaring);

    /// <summary>Writes what the class adds to the entries of every exception.</summary>
    internal static void WriteAdded(ref WireWriter writer, Exception value)
    {
        var added = new List<SerializationEntry>();
        foreach (var entry in SerializableType.ForType(value.GetType())!.Write(value))
        {
            if (!OfExceptions.Contains(entry.Name))
                added.Add(entry);
        }

        writer.WriteVarUInt32((uint)added.Count);
        foreach (var entry in added)
            Write(ref writer, entry);
    }

    /// <summary>Runs the serialization constructor of an exception whose other members are set.</summary>
    internal static void FillAdded(ref WireReader reader, Exception value, string? message, Exception? inner)
    {
        var shape = SerializableType.ForType(value.GetType())!;
        var info = new SerializationInfo(value.GetType(), shape.Converter);
        new Exception(message, inner) { HResult = value.HResult }.GetObjectData(info, new StreamingContext(StreamingContextStates.All));
        Read(ref reader, info);
        shape.Fill(value, info);
    }

    private static IEnumerable<string> NamesOf(Exception exception)
    {
        var info = new SerializationInfo(typeof(Exception), new FormatterConverter());
        exception.GetObjectData(info, default);
        foreach (var entry in info)
            yield return entry.Name;
    }
}

/// <summary>How objects of one type that implements ISerializable are written and made. Made once per type; any thread.</summary>
internal sealed class SerializableType
{
    private const BindingFlags Instance = BindingFlags.Instance | BindingFlags.Public | BindingFlags.NonPublic | BindingFlags.DeclaredOnly;

    private static readonly ConcurrentDictionary<Type, SerializableType?> Types = new();

    private readonly Type _type;
    private readonly ConstructorInfo _constructor;
    private readonly MethodInfo[] _serializing;
    private readonly MethodInfo[] _serialized;
    private readonly MethodInfo[] _deserializing;
    private readonly MethodInfo[] _deserialized;

    private SerializableType(Type type, ConstructorInfo constructor)
    {
        _type = type;
        _constructor = constructor;
        _serializing = With<OnSerializingAttribute>(type);
        _serialized = With<OnSerializedAttribute>(type);
        _deserializing = With<OnDeserializingAttribute>(type);
        _deserialized = With<OnDeserializedAttribute>(type);
    }

    internal FormatterConverter Converter { get; } = new();

    private static StreamingContext Context => new(StreamingContextStates.All);

    /// <summary>Null for a type without a serialization constructor.</summary>
    internal static SerializableType? ForType(Type type) => Types.GetOrAdd(type, static t =>
        typeof(ISerializable).IsAssignableFrom(t) && !t.IsAbstract && !t.ContainsGenericParameters
            && t.GetConstructor(Instance, [typeof(SerializationInfo), typeof(StreamingContext)]) is { } constructor
            ? new(t, constructor) : null);

    /// <summary>What the object says of itself.</summary>
    internal SerializationInfo Write(object value)
    {
        var info = new SerializationInfo(_type, Converter);
        Call(_serializing, value);
        ((ISerializable)value).GetObjectData(info, Context);
        Call(_serialized, value);
        return info;
    }

    /// <summary>A new object of what was written.</summary>
    internal object Read(SerializationInfo info)
    {
        var value = RuntimeHelpers.GetUninitializedObject(_type);
        Fill(value, info);
        return value;
    }

    /// <summary>Runs the serialization constructor on an object that exists already.</summary>
    internal void Fill(object value, SerializationInfo info)
    {
        Call(_deserializing, value);
        Invoke(_constructor, value, info, Context);
        Call(_deserialized, value);
        (value as IDeserializationCallback)?.OnDeserialization(null);
    }

    private static void Call(MethodInfo[] methods, object value)
    {
        foreach (var method in methods)
            Invoke(method, value, Context);
    }

    private static void Invoke(MethodBase method, object value, params object[] arguments) =>
        method.Invoke(value, BindingFlags.DoNotWrapExceptions, null, arguments, null);

    /// <summary>Bases first, as formatters call them.</summary>
    private static MethodInfo[] With<TAttribute>(Type type)
        where TAttribute : Attribute
    {
        var found = new List<MethodInfo>();
        for (var current = type; current is not null; current = current.BaseType)
        {
            found.InsertRange(0, current.GetMethods(Instance).Where(static m =>
                m.IsDefined(typeof(TAttribute), inherit: false) && m.GetParameters() is [{ ParameterType: var parameter }]
                    && parameter == typeof(StreamingContext)));
        }

        return [.. found];
    }
}

/// <summary>
/// Which types are written by their own ISerializable code, and by which name. A name never loads an assembly: it is looked for in the
/// loaded assemblies that have generated code.
/// </summary>
internal static class SerializableTypes
{
    /// <summary>Before the full name of a type that has no name in the manifest.</summary>
    internal const string Prefix = "serializable:";

    private const int MaxName = 512;

    internal static bool IsSupported(Type type) =>
        typeof(ISerializable).IsAssignableFrom(type) && !typeof(Exception).IsAssignableFrom(type) && IsOfApplication(type)
        && SerializableType.ForType(type) is not null;

    /// <summary>True for a type of an assembly with generated code, whose arguments are such types or have names.</summary>
    internal static bool IsOfApplication(Type type) => type.Assembly.IsDefined(typeof(GeneratedManifestAttribute));

    /// <summary>The name of a type that is not generic; generic ones have none.</summary>
    internal static string? NameOf(Type type) =>
        !type.IsGenericType && IsSupported(type) ? Prefix + type.Assembly.GetName().Name + ":" + type.FullName : null;

    internal static Type? FindType(string name)
    {
        if (!name.StartsWith(Prefix, StringComparison.Ordinal) || name.Length > MaxName)
            return null;
        var colon = name.IndexOf(':', Prefix.Length);
        if (colon < 0 || name.AsSpan(colon).ContainsAny("[],`"))
            return null;
        var assemblyName = name[Prefix.Length..colon];
        foreach (var assembly in AppDomain.CurrentDomain.GetAssemblies())
        {
            if (!assembly.IsDynamic && assembly.GetName().Name == assemblyName
                && assembly.GetType(name[(colon + 1)..], throwOnError: false) is { } type && IsSupported(type))
            {
                return type;
            }
        }

        return null;
    }
}
