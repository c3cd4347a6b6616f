using System.Collections.Concurrent;
using System.Runtime.CompilerServices;
using ActOp.Serialization.Codecs;
using ActOp.Wire;
using Orleans.Runtime;
using Orleans.Serialization;

namespace ActOp.Serialization;

/// <summary>Writes, reads and copies objects by their actual type: the header, the type's name, the object.</summary>
internal abstract class AnyCodec
{
    private static readonly ConcurrentDictionary<Type, AnyCodec> ByType = new();

    /// <summary>Types that were found not to be writable.</summary>
    private static readonly ConcurrentDictionary<Type, bool> Writable = new();

    /// <summary>Types whose subclasses are written as the type itself.</summary>
    private static readonly Type[] Families = [typeof(Exception), typeof(Type), typeof(System.Net.IPAddress),
        typeof(System.Globalization.CultureInfo), typeof(System.Text.Json.Nodes.JsonNode)];

    /// <summary>Generic types whose subclasses, all internal ones of the framework, are written as the type itself.</summary>
    private static readonly HashSet<Type> GenericFamilies =
        [typeof(System.Collections.Frozen.FrozenSet<>), typeof(System.Collections.Frozen.FrozenDictionary<,>)];

    /// <summary>The codec of objects whose actual type is <paramref name="type"/>.</summary>
    /// <exception cref="CodecNotFoundException">The type cannot be written.</exception>
    internal static AnyCodec For(Type type) => ByType.TryGetValue(type, out var codec) ? codec : ByType.GetOrAdd(type, Make(type));

    /// <summary>Asks again for types that could not be written: an application has added codecs.</summary>
    internal static void Forget() => Writable.Clear();

    /// <summary>True when objects whose actual type is <paramref name="type"/> can be written.</summary>
    internal static bool CanWrite(Type type)
    {
        if (ByType.ContainsKey(type) || Writable.TryGetValue(type, out var can))
            return ByType.ContainsKey(type);
        if (typeof(IAddressable).IsAssignableFrom(type) || Array.Exists(Families, family => family.IsAssignableFrom(type)))
            return true;
        type = GenericFamily(type) ?? type;
        can = (TypeManifest.TryNameOf(type, out _) && CodecTable.CanResolve(type)) || IsOfApplication(type);
        if (can)
            For(type);
        else
            Writable.TryAdd(type, false);
        return can;
    }

    /// <summary>
    /// The type that objects of an internal class of the framework, or of an exception or grain, are written as; null for others.
    /// </summary>
    internal static Type? FamilyOf(Type type)
    {
        if (typeof(IAddressable).IsAssignableFrom(type))
            return typeof(IAddressable);
        return Array.Find(Families, family => family.IsAssignableFrom(type)) ?? GenericFamily(type);
    }

    /// <summary>The type that objects of this one are written as, if it belongs to a generic family.</summary>
    private static Type? GenericFamily(Type type)
    {
        for (var current = type; current is not null; current = current.BaseType)
        {
            if (current.IsConstructedGenericType && GenericFamilies.Contains(current.GetGenericTypeDefinition()))
                return current;
        }

        return null;
    }

    internal abstract object Copy(object value, CopyContext context);

    internal abstract void Write(ref WireWriter writer, object value);

    /// <summary>Writes the object at each occurrence, for a static type whose codec reads no references.</summary>
    internal virtual void WriteUntracked(ref WireWriter writer, object value) => Write(ref writer, value);

    protected abstract object ReadBody(ref WireReader reader, int at);

    /// <summary>Reads an object behind its header.</summary>
    internal static object Read(ref WireReader reader, int at)
    {
        var codec = ReadType(ref reader);
        reader.Session.Enter();
        var value = codec.ReadBody(ref reader, at);
        reader.Session.Exit();
        return value;
    }

    /// <summary>Writes the name once a message, then how far back it was.</summary>
    protected static void WriteType(ref WireWriter writer, AnyCodec codec, string name)
    {
        if (!writer.Session.TryAddWritten(codec, writer.Position, out var first))
        {
            writer.WriteVarUInt32((uint)(writer.Position - first));
            return;
        }

        writer.WriteByte(0);
        writer.WriteString(name);
    }

    private static AnyCodec ReadType(ref WireReader reader)
    {
        var at = reader.Position;
        var distance = reader.ReadVarUInt32();
        if (distance == 0)
            return ReadName(ref reader, at);
        if (distance > (uint)at)
            throw new SerializerException("The message refers to a type before its start.");
        var target = at - (int)distance;
        if (reader.Session.TryGetRead(target, out var found))
            return Header.Fit<AnyCodec>(found!);
        if (!reader.Session.MayReadSkipped(target))
            throw new SerializerException("The message refers to a type at " + target + ", but none was read there.");
        var after = reader.Position;
        reader.Position = target;
        if (reader.ReadByte() != 0)
            throw new SerializerException("The message refers to a type at " + target + ", but what was read there is not a type.");
        var codec = ReadName(ref reader, target);
        reader.Position = after;
        return codec;
    }

    private static AnyCodec ReadName(ref WireReader reader, int at)
    {
        var name = reader.ReadString();
        if (!TypeManifest.TryGetType(name, out var type))
            throw new SerializerException("The message names the type " + name + ", which is not registered in this process.");
        if (type.ContainsGenericParameters || (type != typeof(IAddressable) && type.IsInterface))
            throw new SerializerException("The message names the type " + name + ", of which no objects can exist.");
        var codec = For(type);
        reader.Session.AddRead(at, codec);
        return codec;
    }

    private static bool IsOfApplication(Type type) => FieldCodecSource.Current?.SupportsObject(type) is true;

    private static AnyCodec Make(Type type)
    {
        if (typeof(IAddressable).IsAssignableFrom(type))
            return ByType.GetOrAdd(typeof(IAddressable), static t => new AnyCodecOf<IAddressable>("ref"));
        foreach (var family in Families)
        {
            if (family.IsAssignableFrom(type) && type != family)
                return For(family);
        }

        if (GenericFamily(type) is { } generic && generic != type)
            return For(generic);
        if (type.IsAbstract && !Families.Contains(type) && GenericFamily(type) is null)
            throw new CodecNotFoundException("The type " + type + " is abstract.");
        if (type == typeof(BridgedObject) || (!TypeManifest.TryNameOf(type, out _) && IsOfApplication(type)))
        {
            return FieldCodecSource.Current?.Objects ?? throw new CodecNotFoundException(
                "The message has an object that a codec of an application has written, but this process has no such codecs.");
        }

        var name = TypeManifest.NameOf(type);
        return (AnyCodec)Activator.CreateInstance(typeof(AnyCodecOf<>).MakeGenericType(type), name)!;
    }
}

/// <summary>Objects of type <typeparamref name="T"/> behind a header.</summary>
/// <remarks>
/// Boxed structs and collections of the framework have an identity, too, if they can contain other objects: otherwise each reference to one
/// would become a copy of all that it contains. Texts, numbers and ids contain none.
/// </remarks>
internal sealed class AnyCodecOf<T> : AnyCodec
    where T : notnull
{
    private readonly bool _isComparedByMembers = typeof(T).IsValueType || Footprint.IsComparedByMembers(typeof(T));
    private readonly int _levels = Reach.LevelsOf(typeof(T).IsValueType ? Unsafe.SizeOf<T>() : Footprint.OfFields(typeof(T)));
    private readonly string _name;
    private readonly Codec<T> _codec = Codec<T>.Default;
    private readonly IBodyCodec? _body;
    private readonly bool _isTracked;

    public AnyCodecOf(string name)
    {
        _name = name;
        _body = _codec as IBodyCodec;
        _isTracked = _body?.IsTracked ?? (RuntimeHelpers.IsReferenceOrContainsReferences<T>() && _codec is not PlainCodec<T>
            && typeof(T) != typeof(string) && !typeof(IAddressable).IsAssignableFrom(typeof(T)));
    }

    internal override object Copy(object value, CopyContext context)
    {
        if (_codec.IsImmutable)
            return value;
        if (_body is not null)
            return _codec.Copy((T)value, context);
        if (_isTracked && context.TryGetCopy<object>(value, out var found))
            return found!;
        context.Enter();
        if (_levels > Reach.UsualLevels)
            WireSession.EnsureStack();
        object copy = _codec.Copy((T)value, context);
        context.Exit();
        if (_isTracked)
            context.RecordCopy(value, copy);
        return copy;
    }

    internal override void Write(ref WireWriter writer, object value)
    {
        if (!_isTracked)
        {
            WriteUntracked(ref writer, value);
        }
        else if (Header.TryTrack(ref writer, value))
        {
            writer.WriteByte(Header.TypedTracked);
            WriteBehind(ref writer, value);
        }
    }

    internal override void WriteUntracked(ref WireWriter writer, object value)
    {
        writer.WriteByte(Header.Typed);
        WriteBehind(ref writer, value);
    }

    protected override object ReadBody(ref WireReader reader, int at)
    {
        if (_body is not null)
            return _body.ReadObject(ref reader, at);
        var session = reader.Session;
        session.CountDecoded(Footprint.OfItems<T>(1));
        if (_levels > Reach.UsualLevels)
            WireSession.EnsureStack();
        var outer = session.Begin(reader.Position);
        object value = _codec.Read(ref reader)
            ?? throw new SerializerException("The message has null where a value of type " + typeof(T) + " is expected.");
        if (at >= 0)
            session.AddRead(at, value);
        if (_isComparedByMembers)
            session.EndCompared(outer, reader.Position, at, _levels);
        else
            session.EndIdentity(outer, reader.Position);
        return value;
    }

    private void WriteBehind(ref WireWriter writer, object value)
    {
        WriteType(ref writer, this, _name);
        writer.Session.Enter();
        if (_body is not null)
        {
            _body.WriteObject(ref writer, value);
        }
        else
        {
            if (_levels > Reach.UsualLevels)
                WireSession.EnsureStack();
            _codec.Write(ref writer, (T)value);
        }

        writer.Session.Exit();
    }
}
