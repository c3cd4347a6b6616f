#nullable disable
using System.Collections;
using System.Collections.Concurrent;
using System.Collections.Immutable;
using System.Collections.Specialized;
using System.Globalization;
using System.Net;
using System.Numerics;
using Microsoft.Extensions.DependencyInjection;
using Orleans.Serialization.Cloning;
using Orleans.Serialization.Codecs;
using Orleans.Serialization.Serializers;
using Orleans.Serialization.TestKit;

namespace ActOp.Serialization.Tests;

/// <summary>The test classes for codecs, with codecs of the framework, generated ones, and those that an application wrote.</summary>
public static class TestKitTests
{
    /// <summary>A tester whose values are given and compared by their items.</summary>
    public abstract class Codec<TValue, TCodec>(ITestOutputHelper output, params TValue[] values) : FieldCodecTester<TValue, TCodec>(output)
        where TCodec : class, IFieldCodec<TValue>
    {
        protected override TValue[] TestValues => values;

        protected override TValue CreateValue() => values[Random.Next(values.Length)];

        protected override bool Equals(TValue left, TValue right) => Alike(left, right);
    }

    public abstract class ValueCodec<TValue, TCodec>(ITestOutputHelper output, params TValue[] values)
        : ValueTypeFieldCodecTester<TValue, TCodec>(output)
        where TValue : struct
        where TCodec : class, IFieldCodec<TValue>
    {
        protected override TValue[] TestValues => values;

        protected override TValue CreateValue() => values[Random.Next(values.Length)];

        protected override bool Equals(TValue left, TValue right) => Alike(left, right);
    }

    public abstract class Copier<TValue, TCopier>(ITestOutputHelper output, params TValue[] values) : CopierTester<TValue, TCopier>(output)
        where TCopier : class, IDeepCopier<TValue>
    {
        protected override TValue[] TestValues => values;

        protected override TValue CreateValue() => values[0];

        protected override bool Equals(TValue left, TValue right) => Alike(left, right);
    }

    private static bool Alike<T>(T left, T right)
    {
        if (left is ArraySegment<int> { Array: null })
            return right is ArraySegment<int> { Count: 0 };
        if (left is IEnumerable one and not string && right is IEnumerable other)
            return one.Cast<object>().SequenceEqual(other.Cast<object>());
        return EqualityComparer<T>.Default.Equals(left, right);
    }

    public class Booleans(ITestOutputHelper output) : ValueCodec<bool, BoolCodec>(output, true, false);

    public class Integers(ITestOutputHelper output) : ValueCodec<int, Int32Codec>(output, 0, 1, -1, 127, 128, int.MinValue, int.MaxValue);

    public class Longs(ITestOutputHelper output) : ValueCodec<ulong, UInt64Codec>(output, 0, 1, 1UL << 35, ulong.MaxValue);

    public class Doubles(ITestOutputHelper output) : ValueCodec<double, DoubleCodec>(output, 0, -0.5, double.NaN, double.MaxValue);

    public class Decimals(ITestOutputHelper output) : ValueCodec<decimal, DecimalCodec>(output, 0, 1.5m, decimal.MinValue, decimal.MaxValue);

    public class Characters(ITestOutputHelper output) : ValueCodec<char, CharCodec>(output, '\0', 'a', char.MaxValue);

    public class Guids(ITestOutputHelper output) : ValueCodec<Guid, GuidCodec>(output, Guid.Empty, Guid.Parse("0123456789abcdef0123456789abcdef"));

    public class Dates(ITestOutputHelper output)
        : ValueCodec<DateTime, DateTimeCodec>(output, DateTime.MinValue, DateTime.MaxValue, new(2026, 1, 2, 3, 4, 5, DateTimeKind.Utc));

    public class Offsets(ITestOutputHelper output) : ValueCodec<DateTimeOffset, DateTimeOffsetCodec>(
        output, DateTimeOffset.MinValue, new(2026, 1, 2, 3, 4, 5, TimeSpan.FromMinutes(90)));

    public class Spans(ITestOutputHelper output) : ValueCodec<TimeSpan, TimeSpanCodec>(output, TimeSpan.Zero, TimeSpan.MinValue);

    public class Wide(ITestOutputHelper output) : ValueCodec<Int128, Int128Codec>(output, 0, Int128.MinValue, Int128.MaxValue);

    public class Big(ITestOutputHelper output) : ValueCodec<BigInteger, BigIntegerCodec>(output, 0, BigInteger.Pow(-7, 99));

    public class Colors(ITestOutputHelper output) : Codec<Color, IFieldCodec<Color>>(output, Color.Blue, (Color)100)
    {
        protected override IFieldCodec<Color> CreateCodec() => ServiceProvider.GetRequiredService<ICodecProvider>().GetCodec<Color>();
    }

    public class Nullables(ITestOutputHelper output) : Codec<int?, NullableCodec<int>>(output, null, 0, int.MinValue);

    public class Strings(ITestOutputHelper output)
        : Codec<string, StringCodec>(output, null, "", "a", "äöü \ud83d\ude00", new string('*', 6000));

    public class Bytes(ITestOutputHelper output) : Codec<byte[], ByteArrayCodec>(output, null, [], [1, 2, 3], new byte[4097]);

    public class Memories(ITestOutputHelper output) : ValueCodec<ReadOnlyMemory<byte>, ReadOnlyMemoryOfByteCodec>(
        output, default(ReadOnlyMemory<byte>), new byte[] { 1, 2, 3 })
    {
        protected override bool Equals(ReadOnlyMemory<byte> left, ReadOnlyMemory<byte> right) => left.Span.SequenceEqual(right.Span);
    }

    public class Types(ITestOutputHelper output)
        : Codec<Type, TypeSerializerCodec>(output, null, typeof(int), typeof(Dictionary<,>), typeof(List<Animal>), typeof(int[,]));

    public class Addresses(ITestOutputHelper output) : Codec<IPAddress, IPAddressCodec>(output, null, IPAddress.Loopback, IPAddress.IPv6Any);

    public class EndPoints(ITestOutputHelper output) : Codec<IPEndPoint, IPEndPointCodec>(output, null, new IPEndPoint(IPAddress.Loopback, 9));

    public class Uris(ITestOutputHelper output) : Codec<Uri, UriCodec>(output, null, new Uri("http://a/b?c"), new Uri("d", UriKind.Relative));

    public class Versions(ITestOutputHelper output) : Codec<Version, VersionCodec>(output, null, new Version(1, 2), new Version(1, 2, 3, 4));

    public class Cultures(ITestOutputHelper output) : Codec<CultureInfo, CultureInfoCodec>(output, null, CultureInfo.InvariantCulture);

    public class Arrays(ITestOutputHelper output) : Codec<int[], ArrayCodec<int>>(output, null, [], [1, 2, 3]);

    public class Lists(ITestOutputHelper output) : Codec<List<string>, ListCodec<string>>(output, null, [], ["a", null, "a"]);

    public class Sets(ITestOutputHelper output) : Codec<HashSet<string>, HashSetCodec<string>>(output, null, [], ["a", "b"]);

    public class Stacks(ITestOutputHelper output) : Codec<Stack<int>, StackCodec<int>>(output, null, new(), new([1, 2]));

    public class Queues(ITestOutputHelper output) : Codec<ConcurrentQueue<int>, ConcurrentQueueCodec<int>>(output, null, new(), new([1, 2]));

    public class Maps(ITestOutputHelper output) : Codec<Dictionary<string, int>, DictionaryCodec<string, int>>(
        output, null, [], new Dictionary<string, int>(StringComparer.OrdinalIgnoreCase) { ["a"] = 1 });

    public class Names(ITestOutputHelper output) : Codec<NameValueCollection, NameValueCollectionCodec>(output, null, [], new() { ["a"] = "b" });

    public class Fixed(ITestOutputHelper output) : Codec<ImmutableList<int>, ImmutableListCodec<int>>(output, null, [], [1, 2]);

    public class Segments(ITestOutputHelper output) : ValueCodec<ArraySegment<int>, ArraySegmentCodec<int>>(
        output, new ArraySegment<int>([]), new ArraySegment<int>([1, 2, 3], 1, 2));

    public class Pairs(ITestOutputHelper output)
        : Codec<Tuple<string, int>, TupleCodec<string, int>>(output, null, Tuple.Create<string, int>("a", 1), Tuple.Create<string, int>(null, 2));

    public class Values(ITestOutputHelper output)
        : ValueCodec<(string, Color, object), ValueTupleCodec<string, Color, object>>(output, ("a", Color.Red, 5), default);

    public class Generated(ITestOutputHelper output) : Codec<Animal, IFieldCodec<Animal>>(output, null, new Animal { Name = "a" }, new Dog { Name = "d", Color = Color.Red })
    {
        protected override IFieldCodec<Animal> CreateCodec() => ServiceProvider.GetRequiredService<ICodecProvider>().GetCodec<Animal>();

        protected override bool Equals(Animal left, Animal right) => left?.Name == right?.Name && left?.GetType() == right?.GetType();
    }

    public class Written(ITestOutputHelper output) : Codec<Temperature, TemperatureCodec>(
        output, null, new Temperature(21.5))
    {
        protected override bool Equals(Temperature left, Temperature right) =>
            left?.Degrees == right?.Degrees;
    }

    public class ListCopies(ITestOutputHelper output) : Copier<List<string>, ListCopier<string>>(output, ["a", null], [], null);

    public class MapCopies(ITestOutputHelper output)
        : Copier<Dictionary<string, int>, DictionaryCopier<string, int>>(output, new Dictionary<string, int> { ["a"] = 1 }, [], null);

    public class ArrayCopies(ITestOutputHelper output) : Copier<int[], ArrayCopier<int>>(output, [1, 2], null);

    public class ByteCopies(ITestOutputHelper output) : Copier<byte[], ByteArrayCopier>(output, [1, 2], new byte[5000], null);

    public class SetCopies(ITestOutputHelper output) : Copier<SortedSet<int>, SortedSetCopier<int>>(output, [2, 1], [], null);

    public class TupleCopies(ITestOutputHelper output)
        : Copier<Tuple<string, int>, TupleCopier<string, int>>(output, Tuple.Create("a", 1), null)
    {
        protected override bool IsImmutable => true;
    }

    public class ValueCopies(ITestOutputHelper output)
        : Copier<(string, int[]), ValueTupleCopier<string, int[]>>(output, ("a", null), default);

    public class FixedCopies(ITestOutputHelper output) : Copier<ImmutableArray<int>, ImmutableArrayCopier<int>>(output, [1, 2], []);

    public class GeneratedCopies(ITestOutputHelper output) : Copier<Animal, IDeepCopier<Animal>>(output, new Animal { Name = "a" }, null)
    {
        protected override IDeepCopier<Animal> CreateCopier() => ServiceProvider.GetRequiredService<IDeepCopierProvider>().GetDeepCopier<Animal>();

        protected override bool Equals(Animal left, Animal right) => left?.Name == right?.Name;
    }

    public class WrittenCopies(ITestOutputHelper output) : Copier<Room, RoomCopier>(
        output, new Room { Name = "r" })
    {
        protected override bool Equals(Room left, Room right) =>
            right.Name.StartsWith(left.Name, StringComparison.Ordinal);
    }
}
