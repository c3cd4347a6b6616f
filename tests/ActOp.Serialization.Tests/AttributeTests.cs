using Orleans.Serialization;
using Orleans.Serialization.Activators;

namespace ActOp.Serialization.Tests;

/// <summary>Attributes of serializable types: each does what its name says.</summary>
public class AttributeTests
{
    private static readonly Serializer Serializer = new();

    [Fact]
    public void Hooks_of_a_class_run_around_writing_reading_and_copying()
    {
        var value = new Hooked { Number = 1 };
        var read = Serializer.Deserialize<Hooked>(Serializer.SerializeToArray(value));
        Assert.Equal(["serializing", "serialized"], value.Steps);
        Assert.Equal(["deserializing 0", "deserialized 1"], read!.Steps);
        value.Steps.Clear();
        var copy = new DeepCopier().Copy(value)!;
        Assert.Equal(["copying 1 0", "copied 1 1"], copy.Steps);
    }

    [Fact]
    public void Hooks_of_a_base_class_run_for_derived_classes()
    {
        var read = Serializer.Deserialize<HookedChild>(Serializer.SerializeToArray(new HookedChild { Number = 2, Extra = 3 }));
        Assert.Equal((2, 3), (read!.Number, read.Extra));
        Assert.Equal(["deserializing 0", "deserialized 2"], read.Steps);
    }

    [Fact]
    public void Hooks_of_a_struct_may_change_the_value()
    {
        var read = Serializer.Deserialize<HookedStruct>(Serializer.SerializeToArray(new HookedStruct { Number = 4 }));
        Assert.Equal((4, 8), (read.Number, read.Twice));
    }

    [Fact]
    public void Default_values_are_omitted_when_the_type_says_so()
    {
        var sparse = new Sparse { Fourth = 4, Text = "t" };
        var bytes = Serializer.SerializeToArray(sparse);
        Assert.True(bytes.Length < Serializer.SerializeToArray(new Dense { Fourth = 4, Text = "t" }).Length);
        var read = Serializer.Deserialize<Sparse>(bytes)!;
        Assert.Equal((0, null, 4, "t"), (read.First, read.Second, read.Fourth, read.Text));
        // The same ids: what one writes, the other reads.
        Assert.Equal(4, Serializer.Deserialize<Sparse>(Serializer.SerializeToArray(new Sparse { Fourth = 4 }))!.Fourth);
    }

    [Fact]
    public void Objects_are_made_by_the_registered_activator()
    {
        var read = Serializer.Deserialize<Made>(Serializer.SerializeToArray(new Made("own") { Number = 5 }))!;
        Assert.Equal(("activator", 5), (read.Origin, read.Number));
    }

    [Fact]
    public void A_type_without_its_activator_is_refused_by_name()
    {
        var bytes = Serializer.SerializeToArray(new Unmade());
        Assert.Contains(nameof(Unmade), Assert.Throws<SerializerException>(() => Serializer.Deserialize<Unmade>(bytes)).Message);
    }

    [Fact]
    public void A_transparent_base_class_has_nothing_to_write()
    {
        var read = Serializer.Deserialize<OverTransparent>(Serializer.SerializeToArray(new OverTransparent { Number = 6 }))!;
        Assert.Equal(6, read.Number);
    }

    [Fact]
    public void A_compound_alias_is_the_name_on_the_wire()
    {
        Assert.Equal("compound|part|" + typeof(Sparse).FullName + "|2", TypeManifest.NameOf(typeof(Aliased)));
        Assert.IsType<Aliased>(Serializer.Deserialize<object>(Serializer.SerializeToArray<object>(new Aliased())));
    }

    [Fact]
    public void Names_of_grains_and_interfaces_come_from_their_attributes()
    {
        Assert.True(TypeManifest.TryGetInterface(typeof(INamed), out var named));
        Assert.Equal("named.interface", named.Name);
        Assert.True(TypeManifest.TryGetGrainClass(typeof(OddlyNamed), out var grain));
        Assert.Equal("named.class", grain.GrainType);
    }

    [Orleans.Runtime.GrainInterfaceType("named.interface")]
    public interface INamed : IGrainWithStringKey;

    [GrainType("named.class")]
    public sealed class OddlyNamed : Grain, INamed;

    [GenerateSerializer]
    [SerializationCallbacks(typeof(Hook))]
    public class Hooked
    {
        [Id(0)]
        public int Number { get; set; }

        [field: NonSerialized]
        public List<string> Steps { get; } = [];
    }

    [GenerateSerializer]
    public sealed class HookedChild : Hooked
    {
        [Id(0)]
        public int Extra { get; set; }
    }

    public sealed class Hook
    {
        public void OnSerializing(Hooked value) => value.Steps.Add("serializing");

        public void OnSerialized(Hooked value) => value.Steps.Add("serialized");

        public void OnDeserializing(Hooked value) => value.Steps.Add("deserializing " + value.Number);

        public void OnDeserialized(Hooked value) => value.Steps.Add("deserialized " + value.Number);

        public void OnCopying(Hooked original, Hooked result) => result.Steps.Add("copying " + original.Number + " " + result.Number);

        public void OnCopied(Hooked original, Hooked result) => result.Steps.Add("copied " + original.Number + " " + result.Number);
    }

    [GenerateSerializer]
    [SerializationCallbacks(typeof(StructHook))]
    public struct HookedStruct
    {
        [Id(0)]
        public int Number;

        [NonSerialized]
        public int Twice;
    }

    public sealed class StructHook
    {
        public void OnDeserialized(ref HookedStruct value) => value.Twice = 2 * value.Number;
    }

    [GenerateSerializer]
    [OmitDefaultMemberValues]
    public sealed class Sparse
    {
        [Id(0)]
        public int First { get; set; }

        [Id(1)]
        public List<int>? Second { get; set; }

        [Id(2)]
        public Guid Third { get; set; }

        [Id(3)]
        public long Fourth { get; set; }

        [Id(4)]
        public string? Text { get; set; }
    }

    [GenerateSerializer]
    public sealed class Dense
    {
        [Id(0)]
        public int First { get; set; }

        [Id(1)]
        public List<int>? Second { get; set; }

        [Id(2)]
        public Guid Third { get; set; }

        [Id(3)]
        public long Fourth { get; set; }

        [Id(4)]
        public string? Text { get; set; }
    }

    [GenerateSerializer]
    [UseActivator]
    public sealed class Made(string origin)
    {
        [field: NonSerialized]
        public string Origin { get; } = origin;

        [Id(0)]
        public int Number { get; set; }
    }

    [RegisterActivator]
    public sealed class MadeActivator : IActivator<Made>
    {
        public Made Create() => new("activator");
    }

    [GenerateSerializer]
    [UseActivator]
    public sealed class Unmade;

    [SerializerTransparent]
    public abstract class Transparent
    {
        public int NotSent { get; set; }
    }

    [GenerateSerializer]
    public sealed class OverTransparent : Transparent
    {
        [Id(0)]
        public int Number { get; set; }
    }

    [GenerateSerializer]
    [CompoundTypeAlias("part", typeof(Sparse), 2)]
    public sealed class Aliased;
}
