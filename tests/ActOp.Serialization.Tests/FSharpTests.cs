#nullable disable
using Microsoft.Extensions.DependencyInjection;
using Microsoft.FSharp.Collections;
using Microsoft.FSharp.Core;
using Orleans.Serialization;

namespace ActOp.Serialization.Tests;

/// <summary>Types of FSharp.Core, by their codecs and inside of other values.</summary>
public static class FSharpTests
{
    public class Everywhere
    {
        [Fact]
        public void Values_of_FSharp_travel_inside_of_others()
        {
            using var services = new ServiceCollection().AddSerializer().BuildServiceProvider();
            var serializer = services.GetRequiredService<Serializer>();
            var copier = services.GetRequiredService<DeepCopier>();
            var choice = FSharpChoice<int, string>.NewChoice2Of2("two");
            object[] values =
            [
                FSharpOption<int>.Some(1), FSharpValueOption<string>.NewValueSome("v"), choice, FSharpResult<int, string>.NewError("bad"),
                ListModule.OfArray([1, 2]), SetModule.OfArray(["b", "a"]), MapModule.OfSeq([Tuple.Create("k", 1)]), choice,
            ];
            var read = serializer.Deserialize<object[]>(serializer.SerializeToArray(values));
            Assert.Equal(values, read);
            Assert.Same(read[2], read[7]);
            Assert.Equal(values, copier.Copy(values));
            var list = ListModule.OfArray([FSharpOption<Animal>.Some(new Animal { Name = "a" }), null]);
            var copy = copier.Copy(list);
            Assert.NotSame(list.Head.Value, copy.Head.Value);
            Assert.Equal("a", serializer.Deserialize<FSharpList<FSharpOption<Animal>>>(serializer.SerializeToArray(list)).Head.Value.Name);
            Assert.Null(copy.Tail.Head);
            Assert.Null(serializer.Deserialize<Unit>(serializer.SerializeToArray<Unit>(null)));
        }
    }

    public class Units(ITestOutputHelper output) : TestKitTests.Codec<Unit, FSharpUnitCodec>(output, null, null);

    public class Options(ITestOutputHelper output)
        : TestKitTests.Codec<FSharpOption<Guid>, FSharpOptionCodec<Guid>>(output, null, FSharpOption<Guid>.Some(Guid.Empty));

    public class ValueOptions(ITestOutputHelper output) : TestKitTests.ValueCodec<FSharpValueOption<string>, FSharpValueOptionCodec<string>>(
        output, FSharpValueOption<string>.None, FSharpValueOption<string>.NewValueSome("a"));

    public class Results(ITestOutputHelper output) : TestKitTests.ValueCodec<FSharpResult<int, string>, FSharpResultCodec<int, string>>(
        output, FSharpResult<int, string>.NewOk(1), FSharpResult<int, string>.NewError("e"));

    public class References(ITestOutputHelper output)
        : TestKitTests.Codec<FSharpRef<int>, FSharpRefCodec<int>>(output, null, new FSharpRef<int>(5));

    public class Lists(ITestOutputHelper output)
        : TestKitTests.Codec<FSharpList<int>, FSharpListCodec<int>>(output, null, FSharpList<int>.Empty, ListModule.OfArray([1, 2]));

    public class Sets(ITestOutputHelper output)
        : TestKitTests.Codec<FSharpSet<string>, FSharpSetCodec<string>>(output, null, SetModule.OfArray(["b", "a"]));

    public class Maps(ITestOutputHelper output) : TestKitTests.Codec<FSharpMap<string, int>, FSharpMapCodec<string, int>>(
        output, null, MapModule.OfSeq([Tuple.Create("k", 1), Tuple.Create("a", 2)]));

    public class Choices(ITestOutputHelper output) : TestKitTests.Codec<FSharpChoice<int, Guid>, FSharpChoiceCodec<int, Guid>>(
        output, null, FSharpChoice<int, Guid>.NewChoice1Of2(1), FSharpChoice<int, Guid>.NewChoice2Of2(Guid.Empty));

    public class SixChoices(ITestOutputHelper output)
        : TestKitTests.Codec<FSharpChoice<int, int, int, int, int, string>, FSharpChoiceCodec<int, int, int, int, int, string>>(
            output, FSharpChoice<int, int, int, int, int, string>.NewChoice6Of6("six"),
            FSharpChoice<int, int, int, int, int, string>.NewChoice3Of6(3));

    public class OptionCopies(ITestOutputHelper output)
        : TestKitTests.Copier<FSharpOption<int[]>, FSharpOptionCopier<int[]>>(output, FSharpOption<int[]>.Some([1]), null)
    {
        protected override bool Equals(FSharpOption<int[]> left, FSharpOption<int[]> right) => left?.Value[0] == right?.Value[0];
    }

    public class ListCopies(ITestOutputHelper output)
        : TestKitTests.Copier<FSharpList<int>, FSharpListCopier<int>>(output, ListModule.OfArray([1, 2]), null)
    {
        protected override bool IsImmutable => true;
    }

    public class ReferenceCopies(ITestOutputHelper output)
        : TestKitTests.Copier<FSharpRef<int>, FSharpRefCopier<int>>(output, new FSharpRef<int>(5), null);

    public class ChoiceCopies(ITestOutputHelper output) : TestKitTests.Copier<FSharpChoice<int, string>, FSharpChoiceCopier<int, string>>(
        output, FSharpChoice<int, string>.NewChoice1Of2(1), null);
}
