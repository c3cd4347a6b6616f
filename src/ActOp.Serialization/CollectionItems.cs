using System.Collections.Concurrent;
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
    public static void Read<T>(ref WireReader reader, IEnumerable<T> collection) =>
        Replace(collection, Items.Read<T>(ref reader, reader.ReadCount(), -1));

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
            case ConcurrentBag<T> bag:
                bag.Clear();
                foreach (var item in items)
                    bag.Add(item);
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

    /// <summary>The memory of an object of exactly this class, without what its fields refer to. Reflection; once per codec.</summary>
    internal static int Of(Type type)
    {
        const BindingFlags Own = BindingFlags.Instance | BindingFlags.Public | BindingFlags.NonPublic | BindingFlags.DeclaredOnly;
        var bytes = (long)ObjectBytes;
        for (var declaring = type; declaring is not null && declaring != typeof(object); declaring = declaring.BaseType)
        {
            foreach (var field in declaring.GetFields(Own))
                bytes += RuntimeHelpers.SizeOf(field.FieldType.TypeHandle);
        }

        return (int)Math.Min(bytes, int.MaxValue);
    }

    /// <summary>The memory of an array of so many items.</summary>
    internal static long OfItems<T>(long count) => ObjectBytes + (count * Unsafe.SizeOf<T>());

    /// <summary>The memory of a linked or hashed collection of so many items.</summary>
    internal static long OfNodes<T>(long count) => count * (Unsafe.SizeOf<T>() + NodeBytes);
}
