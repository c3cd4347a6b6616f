using System.Collections.Immutable;
using ActOp.TestClusters;
using Microsoft.Extensions.Options;
using Orleans.GrainReferences;
using Orleans.Metadata;
using Orleans.Placement;
using Orleans.Runtime.Placement;
using Orleans.Runtime.Placement.Filtering;
using Orleans.Serialization;
using Orleans.Serialization.Configuration;
using Orleans.Serialization.TypeSystem;

namespace ActOp.Surface.Tests.InnerParts;

/// <summary>The parts that find grain types, interfaces, strategies and references by their names.</summary>
public class ResolverTests(ResolverTests.Resolving cluster) : IClassFixture<ResolverTests.Resolving>
{
    private IServiceProvider Silo => cluster.Cluster.Silos[0].ServiceProvider;

    [Fact]
    public void The_name_of_a_class_is_the_one_that_the_silo_hosts_it_under()
    {
        foreach (var services in new[] { Silo, cluster.Client.ServiceProvider })
        {
            var names = services.GetRequiredService<GrainTypeResolver>();
            Assert.Equal(GrainType.Create("plainpart"), names.GetGrainType(typeof(PlainPartGrain)));
            Assert.Throws<ArgumentException>(() => names.GetGrainType(typeof(IPlainPart)));
        }

        var map = Silo.GetRequiredService<GrainClassMap>();
        var generic = Silo.GetRequiredService<GrainTypeResolver>().GetGrainType(typeof(GenericPartGrain<int>));
        Assert.True(map.TryGetGrainClass(generic, out var found));
        Assert.Equal(typeof(GenericPartGrain<int>), found);
    }

    [Fact]
    public async Task A_service_names_the_grain_types_of_classes()
    {
        await using var named = await TestSilos.StartAsync(1, static silo => silo.Services.AddSingleton<IGrainTypeProvider, OtherName>());
        var grain = named.Client.GetGrain<IPlainPart>("named");
        await grain.Touch();
        Assert.Equal("another-name", grain.GetGrainId().Type.ToString());
        Assert.Equal(grain.GetGrainId().Type,
            named.Silos[0].ServiceProvider.GetRequiredService<GrainTypeResolver>().GetGrainType(typeof(PlainPartGrain)));
    }

    [Fact]
    public async Task A_service_that_gives_an_interface_another_name_than_generated_code_fails_the_start()
    {
        var failure = await Assert.ThrowsAnyAsync<Exception>(() => TestSilos.StartAsync(
            1,
            static silo => silo.Services.AddSingleton<IGrainInterfaceTypeProvider, OtherInterfaceName>()));
        Assert.Contains(nameof(OtherInterfaceName), failure.ToString(), StringComparison.Ordinal);
        await using var attributes = await TestSilos.StartAsync(
            1,
            static silo => silo.Services.AddSingleton<IGrainInterfaceTypeProvider, AttributeGrainInterfaceTypeProvider>());
    }

    [Fact]
    public void Names_without_generated_code_follow_the_class_and_are_asked_for_once()
    {
        var provider = new OtherName();
        var converter = Converter();
        var names = new GrainTypeResolver([provider], converter);
        Assert.Equal("unknown`1[[System.Int32]]", names.GetGrainType(typeof(UnknownGrain<int>)).ToString());
        Assert.Equal("another-name", names.GetGrainType(typeof(PlainPartGrain)).ToString());
        Assert.Equal(names.GetGrainType(typeof(PlainPartGrain)), names.GetGrainType(typeof(PlainPartGrain)));
        Assert.Equal(1, provider.Named);
        var interfaces = new GrainInterfaceTypeResolver([new OtherInterfaceName()], converter);
        Assert.Equal("another-interface", interfaces.GetGrainInterfaceType(typeof(IPlainPart)).ToString());
        Assert.Equal(typeof(IPlainPart).FullName, interfaces.GetGrainInterfaceTypeByConvention(typeof(IPlainPart)).ToString());
        Assert.Throws<ArgumentException>(() => interfaces.GetGrainInterfaceType(typeof(int)));
        var map = new GrainClassMap(converter,
            ImmutableDictionary<GrainType, Type>.Empty.Add(GrainType.Create("unknown`1"), typeof(UnknownGrain<>)));
        Assert.True(map.TryGetGrainClass(names.GetGrainType(typeof(UnknownGrain<ResolverTests>)), out var found));
        Assert.Equal(typeof(UnknownGrain<ResolverTests>), found);
        map = new GrainClassMap(converter,
            ImmutableDictionary<GrainType, Type>.Empty.Add(GrainType.Create("unknownpair`2"), typeof(UnknownPairGrain<,>)));
        Assert.True(map.TryGetGrainClass(names.GetGrainType(typeof(UnknownPairGrain<ResolverTests, int>)), out found));
        Assert.Equal(typeof(UnknownPairGrain<ResolverTests, int>), found);
        Assert.False(map.TryGetGrainClass(GrainType.Create("none"), out _));
    }

    [Fact]
    public void The_grain_type_of_an_interface_is_that_of_its_class()
    {
        foreach (var services in new[] { Silo, cluster.Client.ServiceProvider })
        {
            var names = services.GetRequiredService<GrainInterfaceTypeResolver>();
            var types = services.GetRequiredService<GrainInterfaceTypeToGrainTypeResolver>();
            Assert.Equal(GrainType.Create("plainpart"), types.GetGrainType(names.GetGrainInterfaceType(typeof(IPlainPart))));
            var shared = names.GetGrainInterfaceType(typeof(ITwicePart));
            Assert.Equal(GrainType.Create("secondpart"), types.GetGrainType(shared, typeof(SecondPartGrain).FullName!));
            Assert.False(types.TryGetGrainType(shared, out _));
            Assert.Throws<ArgumentException>(() => types.GetGrainType(GrainInterfaceType.Create("no such interface")));
            var generic = names.GetGrainInterfaceType(typeof(IGenericPart<int>));
            Assert.Equal(services.GetRequiredService<GrainTypeResolver>().GetGrainType(typeof(GenericPartGrain<int>)),
                types.GetGrainType(generic));
        }
    }

    [Fact]
    public void A_manifest_alone_is_enough_to_find_the_grain_type_of_an_interface()
    {
        var name = GrainInterfaceType.Create("i.part");
        var manifest = new GrainManifest(
            ImmutableDictionary<GrainType, GrainProperties>.Empty
                .Add(GrainType.Create("one"), Properties(("interface.0", "i.part"), ("full-type-name", "A.One"), ("type-name", "One")))
                .Add(GrainType.Create("two"), Properties(("interface.1", "i.part"), ("full-type-name", "A.Two"), ("type-name", "Two"))),
            ImmutableDictionary<GrainInterfaceType, GrainInterfaceProperties>.Empty.Add(
                name, new GrainInterfaceProperties(Properties(("type-name", "ITwo")).Properties)));
        var types = new GrainInterfaceTypeToGrainTypeResolver(new Manifests(manifest));
        Assert.Equal(GrainType.Create("two"), types.GetGrainType(name));
        Assert.Equal(GrainType.Create("one"), types.GetGrainType(name, "A.O"));
    }

    [Fact]
    public void The_strategy_of_a_grain_type_is_found_by_its_name()
    {
        var strategies = Silo.GetRequiredService<PlacementStrategyResolver>();
        Assert.IsType<PreferLocalPlacement>(strategies.GetPlacementStrategy(GrainType.Create("secondpart")));
        Assert.IsType<RandomPlacement>(strategies.GetPlacementStrategy(GrainType.Create("plainpart")));
        Assert.Same(strategies.GetPlacementStrategy(GrainType.Create("plainpart")),
            strategies.GetPlacementStrategy(GrainType.Create("plainpart")));
        var target = strategies.GetPlacementStrategy(GrainType.Create("sys.cluster"));
        Assert.Same(SystemTargetPlacementStrategy.Instance, target);
        Assert.False(target.IsUsingGrainDirectory);
        var filter = new RequiredMatchSiloMetadataPlacementFilterStrategy(["zone"], 0);
        Assert.NotNull(Silo.GetRequiredService<PlacementFilterDirectorResolver>().GetFilterDirector(filter));
    }

    [Fact]
    public async Task A_service_chooses_the_strategy_that_places_a_grain()
    {
        var grain = cluster.Client.GetGrain<IPlainPart>("chosen");
        await grain.Touch();
        var properties = Silo.GetRequiredService<GrainPropertiesResolver>().GetGrainProperties(grain.GetGrainId().Type);
        Assert.Equal(nameof(RandomPlacement), properties.Properties[WellKnownGrainTypeProperties.PlacementStrategy]);
        Assert.Contains(GrainType.Create("plainpart"), cluster.Choice.Asked);
    }

    [Fact]
    public async Task References_are_made_by_the_names_of_their_interfaces()
    {
        var id = cluster.Client.GetGrain<IPlainPart>("by name").GetGrainId();
        foreach (var services in new[] { Silo, cluster.Client.ServiceProvider })
        {
            var references = services.GetRequiredService<GrainReferenceActivator>();
            var name = services.GetRequiredService<GrainInterfaceTypeResolver>().GetGrainInterfaceType(typeof(IPlainPart));
            await ((IPlainPart)(object)references.CreateReference(id, name)).Touch();
            await references.CreateReference(id, default).AsReference<IPlainPart>().Touch();
        }
    }

    [Fact]
    public async Task A_service_makes_the_references_of_the_grain_types_that_it_wants()
    {
        var provider = new CountingReferences();
        await using var counted = await TestSilos.StartAsync(
            1,
            silo => silo.Services.AddSingleton<IGrainReferenceActivatorProvider>(provider));
        var services = counted.Silos[0].ServiceProvider;
        provider.Factory = counted.Client;
        var grain = services.GetRequiredService<IGrainFactory>().GetGrain<IPlainPart>("counted");
        await grain.Touch();
        Assert.Equal("counted", Assert.Single(provider.Made).Key.ToString());
        await services.GetRequiredService<GrainReferenceActivator>().CreateReference(grain.GetGrainId(),
            GrainInterfaceType.Create(typeof(IPlainPart).FullName!)).AsReference<IPlainPart>().Touch();
        Assert.Equal(2, provider.Made.Count);
    }

    [Fact]
    public void States_as_json_contain_references_also_where_an_application_configures_them_itself()
    {
        var options = new SystemTextJsonGrainStorageSerializerOptions();
        var step = new SystemTextJsonSerializerOptionsConfigure(Silo.GetRequiredService<GrainReferenceActivator>());
        step.PostConfigure(null, options);
        step.PostConfigure(null, options);
        var grain = cluster.Client.GetGrain<IPlainPart>("in json");
        var text = System.Text.Json.JsonSerializer.Serialize(grain, options.JsonSerializerOptions);
        var read = System.Text.Json.JsonSerializer.Deserialize<IPlainPart>(text, options.JsonSerializerOptions)!;
        Assert.Equal(grain.GetGrainId(), read.GetGrainId());
    }

    private static GrainProperties Properties(params (string Key, string Value)[] values) =>
        new(values.ToImmutableDictionary(static one => one.Key, static one => one.Value));

    private static TypeConverter Converter() => new(
        [], [], [], Options.Create(new TypeManifestOptions { AllowAllTypes = true }), new CachedTypeResolver());

    public sealed class Resolving() : ClusterFixture(1)
    {
        public ChosenStrategy Choice { get; } = new();

        protected override void ConfigureSilo(ISiloBuilder silo) =>
            silo.Services.AddSingleton<IPlacementStrategyResolver>(Choice);
    }

    public sealed class ChosenStrategy : IPlacementStrategyResolver
    {
        public System.Collections.Concurrent.ConcurrentQueue<GrainType> Asked { get; } = new();

        public bool TryResolvePlacementStrategy(GrainType grainType, GrainProperties? properties, out PlacementStrategy result)
        {
            Asked.Enqueue(grainType);
            result = new RandomPlacement();
            return grainType.ToString() == "plainpart";
        }
    }

    private sealed class OtherName : IGrainTypeProvider
    {
        public int Named { get; private set; }

        public bool TryGetGrainType(Type type, out GrainType grainType)
        {
            grainType = GrainType.Create("another-name");
            Named += type == typeof(PlainPartGrain) ? 1 : 0;
            return type == typeof(PlainPartGrain);
        }
    }

    private sealed class OtherInterfaceName : IGrainInterfaceTypeProvider
    {
        public bool TryGetGrainInterfaceType(Type type, out GrainInterfaceType grainInterfaceType)
        {
            grainInterfaceType = GrainInterfaceType.Create("another-interface");
            return type == typeof(IPlainPart);
        }
    }

    private sealed class Manifests(GrainManifest manifest) : IClusterManifestProvider
    {
        public ClusterManifest Current { get; } = new(
            MajorMinorVersion.Zero, ImmutableDictionary<SiloAddress, GrainManifest>.Empty, [manifest]);

        public IAsyncEnumerable<ClusterManifest> Updates => throw new NotSupportedException();

        public GrainManifest LocalGrainManifest => manifest;
    }

    private sealed class CountingReferences : IGrainReferenceActivatorProvider, IGrainReferenceActivator
    {
        public IGrainFactory? Factory { get; set; }

        public List<GrainId> Made { get; } = [];

        public bool TryGet(GrainType grainType, GrainInterfaceType interfaceType, out IGrainReferenceActivator? activator)
        {
            activator = this;
            return grainType.ToString() == "plainpart" && interfaceType.ToString() == typeof(IPlainPart).FullName;
        }

        public GrainReference CreateReference(GrainId grainId)
        {
            Made.Add(grainId);
            return (GrainReference)(object)Factory!.GetGrain<IPlainPart>(grainId);
        }
    }

    private sealed class UnknownPairGrain<TOne, TOther>
    {
        public (TOne?, TOther?) Value { get; set; }
    }

    private sealed class UnknownGrain<T>
    {
        public T? Value { get; set; }
    }
}

public interface ITwicePart : IGrainWithStringKey
{
    Task Touch();
}

public sealed class FirstPartGrain : Grain, ITwicePart
{
    public Task Touch() => Task.CompletedTask;
}

[PreferLocalPlacement]
public sealed class SecondPartGrain(ILocalSiloDetails silo) : Grain, ITwicePart, IOtherPart
{
    public Task Touch() => Task.CompletedTask;

    public Task<SiloAddress> Seat() => Task.FromResult(silo.SiloAddress);
}

public interface IOtherPart : IGrainWithStringKey
{
    Task<SiloAddress> Seat();
}

public interface IGenericPart<T> : IGrainWithStringKey
{
    Task<T?> Give();
}

public sealed class GenericPartGrain<T> : Grain, IGenericPart<T>
{
    public Task<T?> Give() => Task.FromResult(default(T));
}
