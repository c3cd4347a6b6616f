using System.Collections.Immutable;
using ActOp.Generators;
using Microsoft.CodeAnalysis;
using Microsoft.CodeAnalysis.CSharp;
using Microsoft.CodeAnalysis.Diagnostics;

namespace ActOp.Serialization.Tests;

/// <summary>
/// Which grain classes hold state in memory: the analyzer says so while typing, the generator registers those that do not.
/// </summary>
public class GrainStateTests
{
    private const string Usings =
        "#nullable enable\nusing System; using System.Collections.Generic; using System.Collections.Immutable; using System.Threading; "
            + "using System.Threading.Tasks; using Microsoft.Extensions.Logging; using Microsoft.Extensions.Options; using Orleans; "
            + "using Orleans.Concurrency; using Orleans.Placement; using Orleans.Runtime; using ActOp.Placement;\npublic interface IG : "
            + "IGrainWithGuidKey; public class Service { public int Seen; } public class Settings { public int Limit { get; set; } }\n";

    [Theory]
    [InlineData("public class G : Grain, IG { private int {|_count|}; }")]
    [InlineData("public class G : Grain, IG { public int {|Count|} { get; set; } }")]
    [InlineData("public class G : Grain, IG { public int {|Count|} { get; private set; } }")]
    [InlineData("public class G : Grain, IG { private readonly List<int> {|_list|} = new(); }")]
    [InlineData("public class G : Grain, IG { private readonly int[] {|_slots|} = new int[4]; }")]
    [InlineData("public class G : Grain, IG { private readonly Service {|_own|} = new(); }")]
    [InlineData("public class G : Grain, IG { private readonly IDictionary<int, int> {|_map|}; public G() { _map = new Dictionary<int, "
        + "int>(); } }")]
    [InlineData(
        "public class G : Grain, IG { private readonly Service {|_own|}; public G(Service s) { _own = s; _own = new Service(); } }")]
    [InlineData("public class G : Grain, IG { private readonly Service {|_own|}; private readonly int _n; public G(int n) { (_n, _own) = "
        + "(n, new Service()); } }")]
    [InlineData("public class G : Grain, IG { private readonly Service {|_own|}; public G() { Make(out _own); } private static void "
        + "Make(out Service s) => s = new(); }")]
    [InlineData("public class G : Grain, IG { public event Action? {|Changed|}; public void Raise() => Changed?.Invoke(); }")]
    [InlineData("public class G(int {|count|}) : Grain, IG { public int Next() => ++count; }")]
    [InlineData("public class G(Service {|service|}) : Grain, IG { public void Swap() => service = new Service(); }")]
    [InlineData("public class G(int a, int {|b|}) : Grain, IG { public void Swap(int c) => (b, c) = (c, a); }")]
    [InlineData("public class G(List<int> {|shared|}) : Grain, IG { public int Count() => shared.Count; }")]
    [InlineData("public class B : Grain { protected int Kept; } public class {|G|} : B, IG;")]
    [InlineData(
        "public class {|G|} : Nested<int>, IG; public class Nested<T> : Grain { private T? _last; public void Keep(T t) => _last = t; }")]
    [InlineData("public partial class G : Grain, IG; public partial class G { private int {|_count|}; }")]
    [InlineData("public class G([PersistentState(\"s\")] IPersistentState<Settings> state) : Grain, IG { private int {|_count|} = "
        + "state.State.Limit; }")]
    [InlineData("public class G : Grain<Settings>, IG { private int {|_count|}; }")]
    public async Task State_in_memory_is_named(string code)
    {
        var start = code.IndexOf("{|", StringComparison.Ordinal);
        var expected = code[(start + 2)..code.IndexOf("|}", StringComparison.Ordinal)];
        var plain = code.Replace("{|", "").Replace("|}", "");
        var diagnostic = Assert.Single(await Analyze(plain));
        Assert.Equal("ACTOP0020", diagnostic.Id);
        Assert.Equal(DiagnosticSeverity.Info, diagnostic.Severity);
        Assert.Equal(expected, diagnostic.Location.SourceTree!.GetText().ToString(diagnostic.Location.SourceSpan));
        Assert.DoesNotContain("AddStatelessClass(typeof(global::G)", Stateless(plain));
    }

    [Theory]
    [InlineData("public class G : Grain, IG;")]
    [InlineData("public class G(IGrainFactory factory, ILogger<G> log, Service service, TimeProvider time) : Grain, IG { public object "
        + "M() => (factory, log, service.Seen++, time); }")]
    [InlineData("public class G : Grain, IG { private readonly Service _service; private readonly string _name; public G(Service "
        + "service, string name) { _service = service ?? throw new ArgumentNullException(); _name = name + 1; } }")]
    [InlineData("public class G : Grain, IG { private readonly Service _a; private readonly Service _b; public G(Service a, Service b) "
        + "=> (_a, _b) = (a, b); }")]
    [InlineData("public class G(IOptions<Settings> options, ILoggerFactory loggers) : Grain, IG { private readonly Settings _settings = "
        + "options.Value; private readonly ILogger _log = loggers.CreateLogger(\"g\"); }")]
    [InlineData("public class G(IEnumerable<Service> all) : Grain, IG { public object M() => all; }")]
    [InlineData("public class G : Grain, IG { private const int Limit = 3; private static int s_made; private readonly TimeSpan _age = "
        + "TimeSpan.FromSeconds(1); private readonly (int, Guid) _pair = (1, Guid.Empty); private readonly ImmutableArray<int> _primes = "
        + "[2, 3]; public int Size { get; } = Limit; public int Twice => 2 * s_made++; }")]
    [InlineData("public class G(IGrainFactory f) : Grain, IG { private readonly IG _other = f.GetGrain<IG>(Guid.Empty); }")]
    [InlineData("public readonly record struct Point(int X, int Y); public sealed record Place(string Name, Point At); public class G : "
        + "Grain, IG { private readonly Place _home = new(\"x\", new(1, 2)); }")]
    [InlineData("public class G(List<int> start) : Grain, IG { private readonly int _first = start[0]; public int First() => _first; }")]
    [InlineData(
        "public abstract class B(Service service) : Grain { protected Service Given => service; } public class G(Service s) : B(s), IG;")]
    [InlineData("public class G(IGrainContext context) : IGrainBase, IG { public IGrainContext GrainContext { get; } = context; }")]
    // Persistent state goes along: whether it can be is checked at run time.
    [InlineData("public class G([PersistentState(\"s\")] IPersistentState<Settings> state) : Grain, IG { public Task Write() => "
        + "state.WriteStateAsync(); }")]
    [InlineData("public class G : Grain, IG { private readonly IPersistentState<Settings> _state; public G([PersistentState(\"s\")] "
        + "IPersistentState<Settings> state) => _state = state; public Task Write() => _state.WriteStateAsync(); }")]
    [InlineData("public class G : Grain<Settings>, IG { public int Limit() => State.Limit; }")]
    [InlineData("public abstract class B<T> : Grain<T> { public T Now() => State; } public class G : B<Settings>, IG;")]
    public async Task A_class_of_services_and_values_holds_no_state_and_is_registered_so(string code)
    {
        Assert.Empty(await Analyze(code));
        Assert.Contains("AddStatelessClass(typeof(global::G));", Stateless(code));
    }

    [Theory]
    [InlineData("public class G : Grain, IG, IGrainMigrationParticipant { private int _count; public void "
        + "OnDehydrate(IDehydrationContext c) => c.TryAddValue(\"c\", _count); public void OnRehydrate(IRehydrationContext c) => "
        + "c.TryGetValue(\"c\", out _count); }")]
    [InlineData("[Movable] public class G : Grain, IG { private int _count; }")]
    [InlineData("[Immovable] public class B : Grain { } public class G : B, IG { private int _count; }")]
    [InlineData("[StatelessWorker] public class G : Grain, IG { private int _count; }")]
    [InlineData("public abstract class G : Grain, IG { private int _count; }")]
    [InlineData("public class NoGrain { private int _count; }")]
    public async Task Nothing_is_said_of_grains_that_have_decided(string code)
    {
        Assert.Empty(await Analyze(code));
        Assert.DoesNotContain("AddStatelessClass(typeof(global::G)", Stateless(code));
    }

    [Fact]
    public void A_base_of_another_assembly_is_vouched_for_by_that_one()
    {
        var library = Compile("public class Plain : Grain; public class Generic<T> : Grain;", "Library");
        var generated = Stateless("public class G : Plain, IG; public class H : Generic<int>, IG;", library.ToMetadataReference());
        Assert.Contains("AddStatelessClass(typeof(global::G), typeof(global::Plain));", generated);
        Assert.Contains("AddStatelessClass(typeof(global::H), typeof(global::Generic<>));", generated);
    }

    [Fact]
    public void The_manifest_follows_the_bases_and_believes_nothing_that_nobody_registered()
    {
        TypeManifest.AddStatelessClass(typeof(Known));
        TypeManifest.AddStatelessClass(typeof(Generic<>), typeof(Known));
        TypeManifest.AddStatelessClass(typeof(Broken), typeof(Unknown));
        Assert.True(TypeManifest.HoldsNoState(typeof(Known)));
        Assert.True(TypeManifest.HoldsNoState(typeof(Generic<int>)));
        Assert.False(TypeManifest.HoldsNoState(typeof(Unknown)));
        Assert.False(TypeManifest.HoldsNoState(typeof(Broken)));
    }

    private static async Task<ImmutableArray<Diagnostic>> Analyze(string code) =>
        await Compile(code).WithAnalyzers([new GrainStateAnalyzer()]).GetAnalyzerDiagnosticsAsync();

    private static string Stateless(string code, params MetadataReference[] references)
    {
        var driver = CSharpGeneratorDriver.Create(new GrainGenerator()).RunGeneratorsAndUpdateCompilation(
            Compile(code, "Sample", references), out var output, out _);
        using var stream = new MemoryStream();
        Assert.Empty(output.Emit(stream).Diagnostics.Where(d => d.Severity == DiagnosticSeverity.Error));
        return string.Concat(
            driver.GetRunResult().GeneratedTrees.Where(tree => tree.FilePath.EndsWith("Manifest.g.cs", StringComparison.Ordinal)));
    }

    private static CSharpCompilation Compile(string code, string name = "Sample", params MetadataReference[] references)
    {
        return CSharpCompilation.Create(name,
            [CSharpSyntaxTree.ParseText((name == "Library" ? Usings[..Usings.IndexOf("public", StringComparison.Ordinal)] : Usings) + code,
                new CSharpParseOptions(LanguageVersion.CSharp13))],
            [.. PlatformReferences.All, .. references], new CSharpCompilationOptions(
                OutputKind.DynamicallyLinkedLibrary, nullableContextOptions: NullableContextOptions.Enable));
    }

    private class Known;

    private sealed class Generic<T> : Known
    {
        public T? Value { get; init; }
    }

    private class Unknown;

    private sealed class Broken : Unknown;
}
