using System.Collections.Immutable;
using System.Collections.ObjectModel;
using System.Runtime.ExceptionServices;
using System.Runtime.Serialization;
using ActOp.Wire;
using Orleans.Serialization;
using Huge = (((decimal, decimal, decimal, decimal, decimal, decimal, decimal), (decimal, decimal, decimal, decimal, decimal, decimal,
    decimal), (decimal, decimal, decimal, decimal, decimal, decimal, decimal), (decimal, decimal, decimal, decimal, decimal, decimal,
    decimal)), ((decimal, decimal, decimal, decimal, decimal, decimal, decimal), (decimal, decimal, decimal, decimal, decimal, decimal,
    decimal), (decimal, decimal, decimal, decimal, decimal, decimal, decimal), (decimal, decimal, decimal, decimal, decimal, decimal,
    decimal)), ((decimal, decimal, decimal, decimal, decimal, decimal, decimal), (decimal, decimal, decimal, decimal, decimal, decimal,
    decimal), (decimal, decimal, decimal, decimal, decimal, decimal, decimal), (decimal, decimal, decimal, decimal, decimal, decimal,
    decimal)));

namespace ActOp.Serialization.Tests;

/// <summary>Objects with large structs take more of the stack per level, and wrappers call what they wrap.</summary>
public class ReachStackTests
{
    private const int SmallStack = 1536 * 1024;
    private const int LargeStack = 256 * 1024 * 1024;

    private static readonly Serializer Serializer = new();

    public static TheoryData<bool> Boxed => [true, false];

    [Theory]
    [MemberData(nameof(Boxed))]
    public void Nested_objects_with_large_structs_are_read_copied_and_written_within_the_stack(bool isBoxed)
    {
        var bytes = OnThread(LargeStack, () => Serializer.SerializeToArray(Nest(1500, isBoxed)));
        ExpectOrRefused(() => Serializer.Deserialize<object>(bytes));
        var read = OnThread(LargeStack, () => Serializer.Deserialize<object>(bytes))!;
        ExpectOrRefused(() => new DeepCopier().Copy(read));
        ExpectOrRefused(() => Serializer.SerializeToArray(read));
    }

    [Theory]
    [MemberData(nameof(Boxed))]
    public void Keys_with_large_structs_are_compared_within_the_stack(bool isBoxed)
    {
        // Two equal keys, as no honest set has them: the second is compared with the first.
        var key = OnThread(LargeStack, () => Part(Nest(200, isBoxed)));
        byte[] bytes = [MarkedMessage.Mark, 3, 2, 0, .. key, .. key];
        ExpectOrRefused(() => Serializer.Deserialize<HashSet<object>>(bytes));
    }

    [Fact]
    public void A_chain_of_read_only_dictionaries_is_refused()
    {
        IDictionary<int, int> chain = new Dictionary<int, int> { [1] = 2 };
        var all = new List<object>();
        for (var i = 0; i < 50_000; i++)
            all.Add(chain = new ReadOnlyDictionary<int, int>(chain));
        var bytes = Serializer.SerializeToArray<object>(all);
        Assert.Throws<SerializerException>(() => Serializer.Deserialize<object>(bytes));
        all.RemoveRange(4, all.Count - 4);
        var read = (List<object>)Serializer.Deserialize<object>(Serializer.SerializeToArray<object>(all))!;
        Assert.Equal(2, ((ReadOnlyDictionary<int, int>)read[^1])[1]);
    }

    [Fact]
    public void Values_of_equal_keys_of_an_immutable_dictionary_are_not_compared()
    {
        var parts = new List<object> { Tuple.Create<object?, object?>(null, null) };
        while (parts.Count < 60)
            parts.Add(Tuple.Create<object?, object?>(parts[^1], parts[^1]));
        var shared = new Dictionary<int, object> { [1] = parts[^1] };
        var map = ImmutableDictionary.CreateRange(shared).WithComparers(null, ReferenceEqualityComparer.Instance);
        var read = (ImmutableDictionary<int, object>)Serializer.Deserialize<object>(Serializer.SerializeToArray<object>(map))!;
        Assert.Same(ReferenceEqualityComparer.Instance, read.ValueComparer);
        foreach (var isSorted in (bool[])[true, false])
        {
            var bytes = Twice(parts);
            Assert.Equal(1, isSorted ? Read<ImmutableSortedDictionary<int, object>>(bytes).Count
                : Read<ImmutableDictionary<int, object>>(bytes).Count);
        }
    }

    [Fact]
    public void A_subclass_that_writes_itself_is_written_as_before()
    {
        SelfWritten[] twice = [new SelfWrittenToo(5), new SelfWrittenToo(6)];
        var read = (SelfWritten[])Serializer.Deserialize<object>(Serializer.SerializeToArray<object>(twice))!;
        Assert.Equal([5, 6], read.Select(static each => each.Number));
        var same = new SelfWrittenToo(7);
        var objects = (object[])Serializer.Deserialize<object>(Serializer.SerializeToArray<object>(new object[] { same, same }))!;
        Assert.Same(objects[0], objects[1]);
    }

    private static void ExpectOrRefused(Func<object?> action) => OnThread(SmallStack, () =>
    {
        try
        {
            return action();
        }
        catch (SerializerException)
        {
            return null;
        }
    });

    private static object Nest(int levels, bool isBoxed)
    {
        object nest = 1;
        for (var i = 0; i < levels; i++)
            nest = isBoxed ? (default(Huge), nest) : Tuple.Create(default(Huge), nest);
        return nest;
    }

    private static byte[] Part(object value)
    {
        var buffer = new WireBuffer();
        var writer = new WireWriter(buffer, new WireSession(null));
        Codec<object>.Default.Write(ref writer, value);
        writer.Commit();
        return buffer.Written.ToArray();
    }

    /// <summary>The parts, and a dictionary that has the last one twice at the same key.</summary>
    private static byte[] Twice(List<object> parts)
    {
        var buffer = new WireBuffer();
        var writer = new WireWriter(buffer, new WireSession(null));
        Codec<object>.Default.Write(ref writer, parts.ToArray());
        writer.WriteByte(3);
        writer.WriteByte(0);
        writer.WriteByte(0);
        writer.WriteVarUInt32(2);
        for (var i = 1; i <= 2; i++)
        {
            Codec<int>.Default.Write(ref writer, 1);
            Codec<object>.Default.Write(ref writer, parts[^i]);
        }

        writer.Commit();
        return buffer.Written.ToArray();
    }

    private static T Read<T>(byte[] bytes)
    {
        var reader = new WireReader(bytes, new WireSession(null));
        Codec<object>.Default.Read(ref reader);
        return Codec<T>.Default.Read(ref reader);
    }

    private static T OnThread<T>(int stack, Func<T> action)
    {
        T? result = default;
        ExceptionDispatchInfo? failure = null;
        var thread = new Thread(
            () =>
            {
                try
                {
                    result = action();
                }
                catch (Exception exception)
                {
                    failure = ExceptionDispatchInfo.Capture(exception);
                }
            },
            stack);
        thread.Start();
        thread.Join();
        failure?.Throw();
        return result!;
    }

#pragma warning disable SYSLIB0050, SYSLIB0051 // Types that write themselves are supported.
    public class SelfWritten : ISerializable
    {
        public SelfWritten(int number) => Number = number;

        protected SelfWritten(SerializationInfo info, StreamingContext context) => Number = info.GetInt32("n");

        public int Number { get; }

        public virtual void GetObjectData(SerializationInfo info, StreamingContext context) => info.AddValue("n", Number);
    }

    public sealed class SelfWrittenToo : SelfWritten
    {
        public SelfWrittenToo(int number)
            : base(number)
        {
        }

        private SelfWrittenToo(SerializationInfo info, StreamingContext context)
            : base(info, context)
        {
        }
    }
}
