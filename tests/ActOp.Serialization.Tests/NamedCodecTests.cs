using System.Collections;
using System.Collections.Concurrent;
using System.Collections.Frozen;
using System.Collections.Immutable;
using System.Collections.ObjectModel;
using System.Collections.Specialized;
using System.Globalization;
using System.Net;
using Microsoft.Extensions.DependencyInjection;
using Orleans.Serialization;
using Orleans.Serialization.Buffers;
using Orleans.Serialization.Cloning;
using Orleans.Serialization.Codecs;
using Orleans.Serialization.Serializers;
using Orleans.Serialization.Session;

namespace ActOp.Serialization.Tests;

/// <summary>Codecs and copiers that sources name by their types in Orleans: registered, asked for, and used for fields.</summary>
public class NamedCodecTests
{
    [Fact]
    public void Codecs_of_collections_can_be_named()
    {
        int[] items = [3, 1, 2];
        Same<List<int>, ListCodec<int>>([.. items]);
        Same<HashSet<int>, HashSetCodec<int>>([.. items]);
        Same<Queue<int>, QueueCodec<int>>(new(items));
        Same<Stack<int>, StackCodec<int>>(new(items));
        Same<SortedSet<int>, SortedSetCodec<int>>([.. items]);
        Same<ConcurrentQueue<int>, ConcurrentQueueCodec<int>>(new(items));
        Same<Collection<int>, CollectionCodec<int>>([.. items]);
        Same<ReadOnlyCollection<int>, ReadOnlyCollectionCodec<int>>(new(items));
        Same<ImmutableArray<int>, ImmutableArrayCodec<int>>([.. items]);
        Same<ImmutableList<int>, ImmutableListCodec<int>>([.. items]);
        Same<ImmutableHashSet<int>, ImmutableHashSetCodec<int>>([.. items]);
        Same<ImmutableQueue<int>, ImmutableQueueCodec<int>>([.. items]);
        Same<ImmutableStack<int>, ImmutableStackCodec<int>>([.. items]);
        Same<ImmutableSortedSet<int>, ImmutableSortedSetCodec<int>>([.. items]);
        Same<FrozenSet<int>, FrozenSetCodec<int>>(items.ToFrozenSet());
        Same<ArrayList, ArrayListCodec>(new(items));
        Same<BitArray, BitArrayCodec>(new(items));
    }

    [Fact]
    public void Codecs_of_maps_can_be_named()
    {
        var pairs = new Dictionary<string, int>(StringComparer.OrdinalIgnoreCase) { ["b"] = 1, ["a"] = 2 };
        Same<Dictionary<string, int>, DictionaryCodec<string, int>>(pairs);
        Assert.Equal(2, Field<Dictionary<string, int>, DictionaryCodec<string, int>>(pairs)["A"]);
        Same<SortedDictionary<string, int>, SortedDictionaryCodec<string, int>>(new(pairs));
        Same<SortedList<string, int>, SortedListCodec<string, int>>(new(pairs));
        Same<ConcurrentDictionary<string, int>, ConcurrentDictionaryCodec<string, int>>(new(pairs));
        Same<ReadOnlyDictionary<string, int>, ReadOnlyDictionaryCodec<string, int>>(new(pairs));
        Same<ImmutableDictionary<string, int>, ImmutableDictionaryCodec<string, int>>(pairs.ToImmutableDictionary());
        Same<ImmutableSortedDictionary<string, int>, ImmutableSortedDictionaryCodec<string, int>>(pairs.ToImmutableSortedDictionary());
        Same<FrozenDictionary<string, int>, FrozenDictionaryCodec<string, int>>(pairs.ToFrozenDictionary());
        Same<KeyValuePair<string, int>, KeyValuePairCodec<string, int>>(new("a", 1));
        Assert.Equal("1", Field<NameValueCollection, NameValueCollectionCodec>(new() { ["a"] = "1" })["a"]);
    }

    [Fact]
    public void Codecs_of_tuples_can_be_named()
    {
        Same<Tuple<string>, TupleCodec<string>>(new("a"));
        Same<Tuple<int, string>, TupleCodec<int, string>>(new(1, "a"));
        Same<Tuple<int, int, int, int, int, int, int, Tuple<int>>, TupleCodec<int, int, int, int, int, int, int, Tuple<int>>>(
            new(1, 2, 3, 4, 5, 6, 7, new(8)));
        Same<ValueTuple, ValueTupleCodec>(default);
        Same<(int, string?), ValueTupleCodec<int, string?>>((1, null));
        Same<(int, int, int, int, int, int, int, int), ValueTupleCodec<int, int, int, int, int, int, int, ValueTuple<int>>>(
            (1, 2, 3, 4, 5, 6, 7, 8));
    }

    [Fact]
    public void Codecs_of_other_types_of_the_framework_can_be_named()
    {
        Same<Version, VersionCodec>(new(1, 2, 3, 4));
        Same<Uri, UriCodec>(new("http://a/b"));
        Same<CultureInfo, CultureInfoCodec>(CultureInfo.InvariantCulture);
        Same<CompareInfo, CompareInfoCodec>(CultureInfo.InvariantCulture.CompareInfo);
        Same<IPAddress, IPAddressCodec>(IPAddress.Loopback);
        Same<IPEndPoint, IPEndPointCodec>(new(IPAddress.IPv6Any, 5));
        Same<BitVector32, BitVector32Codec>(new(5));
        Same<System.Numerics.BigInteger, BigIntegerCodec>(System.Numerics.BigInteger.Pow(7, 99));
        Same<int?, NullableCodec<int>>(5);
        Same<int?, NullableCodec<int>>(null);
        Assert.Equal([1, 2], Field<Memory<int>, MemoryCodec<int>>(new int[] { 1, 2 }).ToArray());
        Assert.Equal([1, 2], Field<ReadOnlyMemory<byte>, ReadOnlyMemoryOfByteCodec>(new byte[] { 1, 2 }).ToArray());
        Assert.Equal([2, 3], Field<ArraySegment<int>, ArraySegmentCodec<int>>(new([1, 2, 3], 1, 2)));
    }

    [Fact]
    public void A_pooled_buffer_is_sent_as_its_bytes_alone_and_beside_other_values()
    {
        var buffer = new PooledBuffer();
        buffer.Write(new byte[5000]);
        buffer.Write([7]);
        Assert.Equal(buffer.ToArray(), Field<PooledBuffer, PooledBufferCodec>(buffer).ToArray());
        using var services = new ServiceCollection().AddSerializer().BuildServiceProvider();
        var serializer = services.GetRequiredService<Serializer>();
        var read = serializer.Deserialize<(int, PooledBuffer, int)>(serializer.SerializeToArray((1, buffer, 2)));
        Assert.Equal((1, 5001, 2), (read.Item1, read.Item2.Length, read.Item3));
        Assert.Empty(serializer.Deserialize<PooledBuffer>(serializer.SerializeToArray(default(PooledBuffer))).ToArray());
        buffer.Dispose();
    }

    [Fact]
    public void Copiers_can_be_named_and_copy_what_can_change()
    {
        var map = new Dictionary<string, int[]> { ["a"] = [1] };
        var copy = Copy<Dictionary<string, int[]>, DictionaryCopier<string, int[]>>(map);
        Assert.Equal([1], copy["a"]);
        Assert.NotSame(map["a"], copy["a"]);
        var text = Tuple.Create("a", "b");
        Assert.Same(text, Copy<Tuple<string, string>, TupleCopier<string, string>>(text));
        var items = ImmutableList.Create(1, 2);
        Assert.Same(items, Copy<ImmutableList<int>, ImmutableListCopier<int>>(items));
        byte[] bytes = [1];
        Assert.NotSame(bytes, Copy<byte[], ByteArrayCopier>(bytes));
        Assert.Null(Copy<Queue<int>, QueueCopier<int>>(null!));
        Assert.Equal(5, Copy<int?, NullableCopier<int>>(5));
    }

    [Fact]
    public void A_surrogate_with_a_generated_codec_serves_a_codec_for_a_class_and_those_that_derive_from_it()
    {
        using var services = new ServiceCollection().AddSerializer(static builder => builder.Configure(
            static options => options.AddFieldCodec(typeof(FolderCodec)))).BuildServiceProvider();
        var serializer = services.GetRequiredService<Serializer>();
        var read = serializer.Deserialize<List<Folder>>(serializer.SerializeToArray(new List<Folder> { new("a"), new DatedFolder("b") }));
        Assert.Equal(["a", "b"], read.Select(static folder => folder.Name));
    }

    private static void Same<T, TCodec>(T value)
        where TCodec : class, IFieldCodec<T>
    {
        var read = Field<T, TCodec>(value);
        if (value is IEnumerable items and not string)
            Assert.Equal(items, (IEnumerable)read!);
        else
            Assert.Equal(value, read);
    }

    private static T Copy<T, TCopier>(T value)
        where TCopier : class, IDeepCopier<T>
    {
        using var services = new ServiceCollection().AddSerializer(static builder => builder.Configure(
            static options => options.AddCopier(typeof(TCopier)))).AddSingleton<TCopier>().BuildServiceProvider();
        using var context = services.GetRequiredService<CopyContextPool>().GetContext();
        return services.GetRequiredService<TCopier>().DeepCopy(value, context);
    }

    /// <summary>Reads a field and skips it, with the same count of objects on all sides.</summary>
    private static T Field<T, TCodec>(T value)
        where TCodec : class, IFieldCodec<T>
    {
        using var services = new ServiceCollection().AddSerializer(static builder => builder.Configure(
            static options => options.AddFieldCodec(typeof(TCodec)))).AddSingleton<TCodec>().BuildServiceProvider();
        Assert.IsType<TCodec>(services.GetRequiredService<ICodecProvider>().GetCodec<T>());
        var sessions = services.GetRequiredService<SerializerSessionPool>();
        using var writing = sessions.GetSession();
        var writer = Writer.CreatePooled(writing);
        services.GetRequiredService<TCodec>().WriteField(ref writer, 0, typeof(T), value);
        writer.Commit();
        var bytes = writer.Output.ToArray();
        writer.Dispose();
        using var skipping = sessions.GetSession();
        var skipper = Reader.Create(bytes, skipping);
        skipper.SkipField(skipper.ReadFieldHeader());
        using var reading = sessions.GetSession();
        var reader = Reader.Create(bytes, reading);
        var read = services.GetRequiredService<TCodec>().ReadValue(ref reader, reader.ReadFieldHeader());
        Assert.Equal((bytes.Length, bytes.Length), (skipper.Position, reader.Position));
        uint Count(SerializerSession session) => session.ReferencedObjects.CurrentReferenceId;
        Assert.Equal((Count(writing), Count(writing)), (Count(skipping), Count(reading)));
        return read;
    }

    public class Folder(string name)
    {
        public string Name => name;
    }

    public class DatedFolder(string name) : Folder(name);

    [GenerateSerializer]
    public struct FolderSurrogate
    {
        [Id(0)]
        public string Name;
    }

    public sealed class FolderCodec(
        IValueSerializer<FolderSurrogate> surrogate) : GeneralizedReferenceTypeSurrogateCodec<Folder, FolderSurrogate>(surrogate)
    {
        public override Folder ConvertFromSurrogate(ref FolderSurrogate surrogate) => new(surrogate.Name);

        public override void ConvertToSurrogate(Folder value, ref FolderSurrogate surrogate) => surrogate.Name = value.Name;
    }
}
