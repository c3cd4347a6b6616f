using Microsoft.Extensions.DependencyInjection;
using Orleans.Serialization;
using Orleans.Serialization.TypeSystem;

namespace ActOp.Serialization.Tests;

/// <summary>Names of types as Orleans writes them.</summary>
public class TypeNameTests
{
    private static readonly Type[] Types =
    [
        typeof(int), typeof(int[]), typeof(int*[]), typeof(List<>), typeof(List<int>), typeof(List<int[]>), typeof(int).MakeByRefType(),
        typeof(System.Collections.Specialized.NameValueCollection), typeof(Outer<int[,,]>.Inner<string, List<int>>.Bottom[,]),
        typeof(Outer<>.Inner<,>.Bottom), typeof(Outer<Dog>.Inner<Dog[], Color?>), typeof(Dictionary<string, List<Dog>>[][,]),
        typeof(TypeNameTests),
    ];

    [Fact]
    public void A_formatted_name_is_found_again_and_parsed_to_the_same_text()
    {
        var resolver = new CachedTypeResolver();
        foreach (var type in Types)
        {
            var name = RuntimeTypeNameFormatter.Format(type);
            Assert.Equal(name, RuntimeTypeNameParser.Parse(name).Format());
            Assert.True(resolver.TryResolveType(name, out var found), name);
            Assert.Equal(type, found);
        }

        Assert.Equal("System.Collections.Generic.List`1[[System.Int32]]", RuntimeTypeNameFormatter.Format(typeof(List<int>)));
        Assert.Equal("ActOp.Serialization.Tests.Dog,ActOp.Serialization.Tests", RuntimeTypeNameFormatter.Format(typeof(Dog)));
    }

    [Theory]
    [InlineData("MalformedName[`")]
    [InlineData("MalformedName`k`")]
    [InlineData("[")]
    [InlineData("")]
    [InlineData("  ")]
    [InlineData("A`1[[B]")]
    [InlineData("(\"a\"")]
    public void A_malformed_name_is_refused(string name) =>
        Assert.Throws<InvalidOperationException>(() => RuntimeTypeNameParser.Parse(name));

    [Fact]
    public void The_parts_of_a_name_can_be_looked_at()
    {
        var spec = Assert.IsType<AssemblyQualifiedTypeSpec>(
            RuntimeTypeNameParser.Parse("N.Outer`1+Inner`2[[X],[Y,Z],[W]][,],Some-Assembly.Name"));
        Assert.Equal("Some-Assembly.Name", spec.Assembly);
        var array = Assert.IsType<ArrayTypeSpec>(spec.Type);
        Assert.Equal(2, array.Dimensions);
        var generic = Assert.IsType<ConstructedGenericTypeSpec>(array.ElementType);
        var named = Assert.IsType<NamedTypeSpec>(generic.UnconstructedType);
        Assert.Equal((3, "Inner`2", "N.Outer`1"), (named.Arity, named.Name, named.ContainingType!.Name));
        var tuple = Assert.IsType<TupleTypeSpec>(RuntimeTypeNameParser.Parse("(\"alias\",[N.T,A])`1"));
        Assert.Equal("alias", Assert.IsType<LiteralTypeSpec>(tuple.Elements[0]).Value);
        Assert.Equal("(\"alias\",[N.T,A])`1", tuple.Format());
    }

    [Fact]
    public void The_converter_allows_what_is_registered_and_uses_aliases()
    {
        using var services =
            new ServiceCollection().AddSerializer(static b => b.Configure(static o => o.WellKnownTypeAliases["other"] = typeof(Foreign)))
                .BuildServiceProvider();
        var converter = services.GetRequiredService<TypeConverter>();
        foreach (var type in new[] { typeof(int), typeof(List<Dog>), typeof(Dog[]), typeof(Dictionary<string, Color?>), typeof(Foreign),
            typeof(Node<>), typeof(Node<Animal[,]>) })
        {
            Assert.Equal(type, converter.Parse(converter.Format(type)));
        }

        Assert.Equal("(\"other\")", converter.Format(typeof(Foreign)));
        Assert.Equal("(\"dog\")", converter.Format(typeof(Dog)));
        Assert.Throws<InvalidOperationException>(() => converter.Parse("System.Diagnostics.Process,System.Diagnostics.Process"));
        Assert.Throws<InvalidOperationException>(() => converter.Format(typeof(System.Diagnostics.Process)));
        Assert.NotEmpty(converter.Format(typeof(System.Diagnostics.Process), allowAllTypes: true));
        Assert.False(converter.TryParse("No.Such.Type,Nowhere", out _));
        Assert.Throws<TypeLoadException>(() => converter.Parse("No.Such.Type,Nowhere"));
    }

    [Fact]
    public void A_filter_may_refuse_and_an_option_allow()
    {
        using var services = new ServiceCollection().AddSingleton<ITypeNameFilter, NoAnimals>().AddSerializer(static b =>
            b.Configure(static o =>
            {
                o.AddAllowedType(typeof(System.Text.StringBuilder));
                o.InterfaceProxies.Add(typeof(System.Diagnostics.Stopwatch));
                o.InterfaceImplementations.Add(typeof(System.Timers.Timer));
            })).BuildServiceProvider();
        var converter = services.GetRequiredService<TypeConverter>();
        foreach (var type in new[] { typeof(System.Text.StringBuilder), typeof(System.Diagnostics.Stopwatch), typeof(System.Timers.Timer) })
            Assert.Equal(type, converter.Parse(RuntimeTypeNameFormatter.Format(type)));
        Assert.Throws<InvalidOperationException>(() => converter.Parse("ActOp.Serialization.Tests.Animal,ActOp.Serialization.Tests"));
        using var open = new ServiceCollection().AddSerializer(static b => b.Configure(static o => o.AllowAllTypes = true))
            .BuildServiceProvider();
        Assert.Equal(typeof(System.Text.StringBuilder), open.GetRequiredService<TypeConverter>().Parse("System.Text.StringBuilder"));
    }

    [Fact]
    public void Compound_aliases_form_a_tree()
    {
        var tree = CompoundTypeAliasTree.Create();
        tree.Add("invoke").Add(typeof(int)).Add("1", typeof(Dog));
        Assert.Same(tree.Add("invoke"), tree.Add("invoke"));
        Assert.Throws<InvalidOperationException>(() => tree.Add("invoke").Add(typeof(int)).Add("1", typeof(Animal)));
        using var services = new ServiceCollection().AddSerializer(static b =>
            b.Configure(static o => o.CompoundTypeAliases.Add("invoke").Add(typeof(int)).Add("1", typeof(Dog)))).BuildServiceProvider();
        Assert.Equal(typeof(Dog), services.GetRequiredService<TypeConverter>().Parse("(\"invoke\",[System.Int32],\"1\")"));
    }

    private sealed class NoAnimals : ITypeNameFilter
    {
        public bool? IsTypeNameAllowed(string typeName, string assemblyName) =>
            typeName.EndsWith("Animal", StringComparison.Ordinal) ? false : null;
    }
}

public class Outer<T>
{
    public class Inner<TU, TV>
    {
        public class Bottom;
    }
}
