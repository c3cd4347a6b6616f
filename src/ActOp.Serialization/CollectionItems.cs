using System.Collections;
using System.Collections.Concurrent;
using System.Collections.ObjectModel;
using System.Collections.Specialized;
using System.ComponentModel;
using System.Reflection;
using System.Runtime.CompilerServices;
using ActOp.Serialization.Codecs;
using ActOp.Wire;
using Orleans.Serialization;

namespace ActOp.Serialization;

/// <summary>
/// The state that a class with [GenerateSerializer] inherits from a collection of the framework: its items and its comparer. The
/// constructor creates the comparer, so only its name is written and checked. Called by generated code.
/// </summary>
[EditorBrowsable(EditorBrowsableState.Never)]
public static class CollectionItems
{
    /// <summary>Writes a count and the items.</summary>
    public static void Write<T>(ref WireWriter writer, IEnumerable<T> collection)
    {
        T[] items = [.. collection];
        writer.WriteVarUInt32((uint)items.Length);
        foreach (var item in items)
            Codec<T>.Default.Write(ref writer, item);
    }

    /// <summary>Replaces the items that the constructor added by the items on the wire.</summary>
    public static void Read<T>(ref WireReader reader, IEnumerable<T> collection)
    {
        var outer = reader.Session.Begin(reader.Position);
        var items = Items.Read<T>(ref reader, reader.ReadCount(), -1);
        if (collection is ISet<T> or IDictionary or Collection<T>)
            reader.Session.EndKey(outer, reader.Position, Keys<T>.WalksOfOrder(items.Length)); // It may be sorted.
        else
            reader.Session.EndCompared(outer, reader.Position, -1, levels: 1);
        Replace(collection, items);
    }

    /// <summary>Replaces the items that the constructor added to the copy by copies of the items.</summary>
    public static void Copy<T>(IEnumerable<T> from, IEnumerable<T> to, CopyContext context)
    {
        T[] items = [.. from];
        for (var i = 0; i < items.Length; i++)
            items[i] = Codec<T>.Default.Copy(items[i], context);
        Replace(to, items);
    }

    /// <summary>Writes which comparer the collection has.</summary>
    public static void WriteComparer<T>(ref WireWriter writer, IEqualityComparer<T> comparer) =>
        writer.WriteString(Comparers.NameOf(comparer, EqualityComparer<T>.Default));

    /// <summary>Writes which comparer the collection has.</summary>
    public static void WriteComparer<T>(ref WireWriter writer, IComparer<T> comparer) =>
        writer.WriteString(Comparers.NameOf(comparer, Comparer<T>.Default));

    /// <summary>Reads which comparer the collection had.</summary>
    /// <exception cref="SerializerException">The constructor has made another one.</exception>
    public static void ReadComparer<T>(ref WireReader reader, object collection, IEqualityComparer<T> comparer) =>
        Check(collection, reader.ReadString(), Comparers.NameOf(comparer, EqualityComparer<T>.Default));

    /// <summary>Reads which comparer the collection had.</summary>
    /// <exception cref="SerializerException">The constructor has made another one.</exception>
    public static void ReadComparer<T>(ref WireReader reader, object collection, IComparer<T> comparer) =>
        Check(collection, reader.ReadString(), Comparers.NameOf(comparer, Comparer<T>.Default));

    /// <summary>Checks that a copy has the comparer of the original.</summary>
    /// <exception cref="SerializerException">The constructor has made another one.</exception>
    public static void CopyComparer<T>(IEqualityComparer<T> from, object collection, IEqualityComparer<T> comparer) =>
        Check(collection, Comparers.NameOf(from, EqualityComparer<T>.Default), Comparers.NameOf(comparer, EqualityComparer<T>.Default));

    /// <summary>Checks that a copy has the comparer of the original.</summary>
    /// <exception cref="SerializerException">The constructor has made another one.</exception>
    public static void CopyComparer<T>(IComparer<T> from, object collection, IComparer<T> comparer) =>
        Check(collection, Comparers.NameOf(from, Comparer<T>.Default), Comparers.NameOf(comparer, Comparer<T>.Default));

    private static void Check(object collection, string expected, string made)
    {
        if (expected != made)
        {
            throw new SerializerException(
                "The collection " + collection.GetType() + " has the comparer \"" + expected +
                    "\", but its constructor without parameters makes \"" + made + "\" (empty: the default).");
        }
    }

    private static void Replace<T>(IEnumerable<T> collection, T[] items)
    {
        switch (collection)
        {
            case ICollection<T> list:
                list.Clear();
                foreach (var item in items)
                    list.Add(item);
                break;
            case Queue<T> queue:
                queue.Clear();
                foreach (var item in items)
                    queue.Enqueue(item);
                break;
            case ConcurrentQueue<T> queue:
                queue.Clear();
                foreach (var item in items)
                    queue.Enqueue(item);
                break;
            case Stack<T> stack:
                stack.Clear();
                for (var i = items.Length - 1; i >= 0; i--)
                    stack.Push(items[i]);
                break;
            case ConcurrentStack<T> stack:
                stack.Clear();
                for (var i = items.Length - 1; i >= 0; i--)
                    stack.Push(items[i]);
                break;
            default:
                throw new SerializerException("The collection " + collection.GetType() + " cannot be filled.");
        }
    }
}

/// <summary>Estimates of the memory of what is read from the wire, to be counted by the session of the message.</summary>
internal static class Footprint
{
    /// <summary>The header of an object, and its reference.</summary>
    internal const int ObjectBytes = 24;

    /// <summary>What a linked or hashed collection needs for an item beside the item.</summary>
    internal const int NodeBytes = 40;

    /// <summary>What a collection has room for after its first item.</summary>
    private const int LeastRoom = 4;

    /// <summary>What is needed to make an immutable collection, with its enumerators and comparers.</summary>
    private const int MakingBytes = 256;

    /// <summary>The memory of an object of exactly this class, without what its fields refer to. Reflection; once per codec.</summary>
    internal static int BytesOf(Type type)
    {
        var bytes = ObjectBytes + (long)OfFields(type);
        for (var declaring = type; declaring is not null; declaring = declaring.BaseType)
            bytes += OfEmpty(declaring);
        return (int)Math.Min(bytes, int.MaxValue);
    }

    /// <summary>The memory of the fields of an object, those of its bases included. Reflection.</summary>
    internal static int OfFields(Type type)
    {
        const BindingFlags Own = BindingFlags.Instance | BindingFlags.Public | BindingFlags.NonPublic | BindingFlags.DeclaredOnly;
        var bytes = 0L;
        for (var declaring = type; declaring is not null && declaring != typeof(object); declaring = declaring.BaseType)
        {
            foreach (var field in declaring.GetFields(Own))
                bytes += RuntimeHelpers.SizeOf(field.FieldType.TypeHandle);
        }

        return (int)Math.Min(bytes, int.MaxValue);
    }

    /// <summary>
    /// What an empty collection of the framework makes for items to come, in this version of .NET; 0 for those that make nothing. A test
    /// compares with what they take.
    /// </summary>
    private static long OfEmpty(Type type)
    {
        if (type == typeof(Hashtable) || type == typeof(NameValueCollection))
            return type == typeof(Hashtable) ? 192 : 512;
        if (!type.IsConstructedGenericType)
            return 0;
        var definition = type.GetGenericTypeDefinition();
        if (definition == typeof(ConcurrentQueue<>))
            return 512 + (32L * (RuntimeHelpers.SizeOf(type.GetGenericArguments()[0].TypeHandle) + 8));
        return definition == typeof(ConcurrentDictionary<,>) ? 512 + (32L * Environment.ProcessorCount) // A lock for each processor.
            : definition == typeof(ReadOnlyObservableCollection<>) ? 256
            : definition == typeof(ObservableCollection<>) || definition == typeof(ReadOnlyDictionary<,>) ? 64 : 0;
    }

    /// <summary>
    /// True for objects whose hash codes and comparisons may go on to their members: a tuple, a record, a class with methods of its own.
    /// </summary>
    internal static bool IsComparedByMembers(Type type)
    {
        if (type.IsArray || type.IsInterface)
            return false;
        return typeof(IComparable).IsAssignableFrom(type) || typeof(IStructuralEquatable).IsAssignableFrom(type)
            || Array.Exists(type.GetInterfaces(), static i => i.IsConstructedGenericType
                && (i.GetGenericTypeDefinition() == typeof(IComparable<>) || i.GetGenericTypeDefinition() == typeof(IEquatable<>)))
            || IsOverridden(type, nameof(GetHashCode), []) || IsOverridden(type, nameof(Equals), [typeof(object)]);
    }

    private static bool IsOverridden(Type type, string name, Type[] parameters) =>
        type.GetMethod(name, BindingFlags.Instance | BindingFlags.Public, parameters)?.DeclaringType != typeof(object);

    /// <summary>The memory of an array of so many items.</summary>
    internal static long OfItems<T>(long count) => ObjectBytes + (count * Unsafe.SizeOf<T>());

    /// <summary>The memory of a linked collection of so many items.</summary>
    internal static long OfNodes<T>(long count) => count * (Unsafe.SizeOf<T>() + NodeBytes);

    /// <summary>The memory of a collection that grows item by item and makes room for more than it has.</summary>
    internal static long OfTable<T>(long count) => count == 0 ? 0 : OfNodes<T>(Math.Max(count, LeastRoom));

    /// <summary>The memory of a collection that is made of an array, and what is needed meanwhile. The array is counted apart.</summary>
    internal static long OfMade<T>(long count) => count == 0 ? 0 : MakingBytes + (2 * OfNodes<T>(count));
}
