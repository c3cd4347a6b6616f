using System.Collections.Immutable;
using ActOp.Generators;
using Microsoft.CodeAnalysis;
using Microsoft.CodeAnalysis.CSharp;
using Microsoft.CodeAnalysis.Diagnostics;

namespace ActOp.Serialization.Tests;

public class GeneratorDiagnosticTests
{
    [Theory]
    [InlineData("ORLEANS0001", "public class G { [Orleans.Concurrency.AlwaysInterleave] public Task {|M|}() => null!; }")]
    [InlineData("ORLEANS0002", "public interface IG : IGrainWithGuidKey { Task M(ref int {|a|}); }")]
    [InlineData("ORLEANS0002", "public interface IG : IGrainWithGuidKey { Task M(System.Span<int> {|a|}); }")]
    [InlineData("ORLEANS0004", "[GenerateSerializer] public class C { public int {|P|} { get; set; } }")]
    [InlineData("ORLEANS0004", "[GenerateSerializer] public class C { private int {|_f|}; }")]
    [InlineData("ORLEANS0008", "public interface IG : IGrainWithGuidKey { int {|P|} { get; } }")]
    [InlineData("ORLEANS0009", "public interface IG : IGrainWithGuidKey { int {|M|}(); }")]
    [InlineData("ORLEANS0011", "[Alias(\"x\")] public class A; [Alias(\"x\")] public class {|B|};")]
    [InlineData("ORLEANS0011", "public interface IG : IGrainWithGuidKey { [Alias(\"x\")] Task A(); [Alias(\"x\")] Task {|B|}(); }")]
    [InlineData("ORLEANS0012", "[GenerateSerializer] public class C { [Id(1)] public int A; [Id(1)] public int {|B|}; }")]
    [InlineData("ORLEANS0006", "[GenerateSerializer] public abstract class C { [Id(0)] public abstract int {|P|} { get; set; } }")]
    [InlineData("ORLEANS0013", "public interface IG : IGrainWithGuidKey { } [{|Alias(\"g\")|}] public class G : Grain, IG;")]
    [InlineData("ORLEANS0013", "public interface IG : IGrainWithGuidKey { } [{|GenerateSerializer|}] public class G : IG;")]
    [InlineData("ORLEANS0014",
        "public abstract class G : Grain { public async Task M() => await Task.Yield().GetAwaiter().M().ConfigureAwait({|false|}); }"
        + " public static class E { public static Task M(this System.Runtime.CompilerServices.YieldAwaitable.YieldAwaiter a) => "
        + "Task.CompletedTask; }")]
    [InlineData("ORLEANS0014",
        "public class G : Grain { public Task M() => N().ContinueWith(async t => await "
            + "t.ConfigureAwait({|ConfigureAwaitOptions.None|})); Task N() => null!; }")]
    [InlineData("ORLEANS0109", "public interface IG : IGrainWithGuidKey { Task {|M|}(CancellationToken a, CancellationToken b); }")]
    [InlineData("ACTOP0003", "public class O { private interface {|IG|} : IGrainWithGuidKey { Task M(); } }")]
    [InlineData("ACTOP0003", "public interface IG : IGrainWithGuidKey { } public class O { private class {|G|} : Grain, IG; }")]
    [InlineData("ORLEANS0004", "[GenerateSerializer] public class C { public int {|P|} { get; } }")]
    [InlineData("ACTOP0004",
        "[GenerateSerializer] public class {|C|}() : System.Collections.ObjectModel.ReadOnlyCollection<int>(new List<int>());")]
    [InlineData("ACTOP0004", "public class B { private int _a; public int M() => _a; } [GenerateSerializer] public class {|C|} : B;")]
    [InlineData(
        "ACTOP0004", "public class B { public int P { get; set; } } public class M : B; [GenerateSerializer] public class {|C|} : M;")]
    [InlineData("ACTOP0004", "[GenerateSerializer] public class {|C|} : System.IO.StringReader { public C() : base(\"\") { } }")]
    [InlineData("ACTOP0004", "[GenerateSerializer] public class {|C|}(int a) : List<int>(a);")]
    [InlineData("ACTOP0004", "[GenerateSerializer] public class C { [Id(0)] public int {|P|} => 5; }")]
    [InlineData("ACTOP0004", "[GenerateSerializer] public class C { [Id(0)] public int {|this|}[int i] { get => i; set { } } }")]
    [InlineData("ACTOP0004", "[GenerateSerializer] public class C { [Id(0)] public static int {|S|}; }")]
    [InlineData("ACTOP0004", "[GenerateSerializer] public class C(int {|a|}) { public int M() => a; }")]
    [InlineData("ACTOP0004", "[GenerateSerializer] public class C(int {|a|}) { public int P => a; }")]
    [InlineData("ACTOP0004",
        "[GenerateSerializer] [System.Runtime.CompilerServices.InlineArray(4)] public struct {|C|} { [Id(0)] private int _a; }")]
    [InlineData("ACTOP0005",
        "public interface IG : IGrainWithGuidKey { } namespace A { public class RoomGrain : Grain, IG; } namespace B { public class "
            + "{|RoomGrain|} : Grain, IG; }")]
    [InlineData("ACTOP0005",
        "public interface IG : IGrainWithGuidKey { } public class RoomGrain : IG; [GrainType(\"room\")] public class {|HallGrain|} : IG;")]
    [InlineData("ACTOP0006", "public class H { } [GenerateSerializer] [SerializationCallbacks(typeof(H))] public class {|C|} { }")]
    [InlineData("ACTOP0006",
        "public class H { private H() { } public void OnSerializing(C c) { } } [GenerateSerializer] [SerializationCallbacks(typeof(H))] "
            + "public class {|C|} { }")]
    [InlineData("ACTOP0006", "[RegisterActivator] public class {|A|} { }")]
    [InlineData("ACTOP0007", "public class C { [{|GeneratedActivatorConstructor|}] public C() { } }")]
    [InlineData("ACTOP0007", "[{|InvokableCustomInitializer(\"M\")|}] public class C { }")]
    [InlineData("ACTOP0007", "[{|DefaultInvokableBaseType(typeof(Task), typeof(object))|}] public class C { }")]
    [InlineData("ACTOP0007", "[{|InvokableBaseType(typeof(object), typeof(Task), typeof(object))|}] public interface I { }")]
    [InlineData("ACTOP0007", "[assembly: {|InvokableBaseType(typeof(object), typeof(Task), typeof(object))|}]")]
    [InlineData("ACTOP0007", "[{|GenerateMethodSerializers(typeof(object))|}] public interface I { }")]
    [InlineData("ACTOP0007", "[{|Orleans.Invocation.ReturnValueProxy(\"M\")|}] public class C { }")]
    [InlineData("ORLEANS0026", "[{|InvokableBaseType(typeof(GrainReference), typeof(Odd), typeof(R))|}] public class Odd; "
        + "public sealed class R : TaskRequest { protected override Task InvokeInner() => null!; }")]
    [InlineData("ORLEANS0026", "[{|InvokableBaseType(typeof(GrainReference), typeof(Odd), typeof(R))|}] public class Odd; "
        + "public abstract class R : TaskRequest { protected R(int a) { } }")]
    [InlineData("ORLEANS0026", "public class O { private abstract class R : TaskRequest; "
        + "[{|InvokableBaseType(typeof(GrainReference), typeof(Odd), typeof(R))|}] public class Odd; }")]
    [InlineData("ORLEANS0009", "public class Odd<T>; public interface IG : IGrainWithGuidKey { Odd<int> {|M|}(); }")]
    [InlineData("ORLEANS0009",
        "public class Odd<T>; [DefaultInvokableBaseType(typeof(Task), typeof(Orleans.Runtime.TaskRequest))] public abstract class P { "
            + "protected ValueTask InvokeAsync(IRequest r) => default; protected ValueTask<T> InvokeAsync<T>(IRequest r) => default; } "
            + "[GenerateMethodSerializers(typeof(P))] public interface IG { Task<int> {|M|}(); }")]
    public async Task A_mistake_is_reported_where_it_is(string id, string code)
    {
        var start = code.IndexOf("{|", StringComparison.Ordinal);
        var expected = code[(start + 2)..code.IndexOf("|}", StringComparison.Ordinal)];
        var diagnostic = Assert.Single(await Analyze(code.Replace("{|", "").Replace("|}", "")));
        Assert.Equal(id, diagnostic.Id);
        Assert.Equal(expected, diagnostic.Location.SourceTree!.GetText().ToString(diagnostic.Location.SourceSpan));
    }

    /// <summary>In Orleans too a test may declare a grain for itself, and make it with its own hands.</summary>
    [Theory]
    [InlineData("public interface IG : IGrainWithGuidKey { } public class O { private class G : Grain, IG; }", DiagnosticSeverity.Warning)]
    [InlineData("public class O { private interface IG : IGrainWithGuidKey { } }", DiagnosticSeverity.Error)]
    public async Task A_private_grain_class_is_only_warned_of(string code, DiagnosticSeverity expected) =>
        Assert.Equal(expected, Assert.Single(await Analyze(code)).Severity);

    [Theory]
    [InlineData("public interface IG : IGrainWithGuidKey { Task M(int a); void N(); static int S => 1; } [GenerateSerializer] public "
        + "record R(int A) { [Id(0)] public int B; [System.NonSerialized] public int C; }")]
    [InlineData("public interface IBase : IGrain { Task<T> M<T>(T? @class) where T : class; } public interface IG<T> : IBase, "
        + "IGrainWithGuidKey where T : struct { ValueTask N(T? a, (int, string)[] b, dynamic c); }")]
    [InlineData("namespace A.@event { public class Outer<T> { public interface IG<U> : IGrainWithGuidKey where U : "
        + "System.IComparable<U>, new() { Task @return(T a, U b); } [GenerateSerializer] public class D<V> { [Id(0)] private readonly V? "
        + "_v; [Id(1)] public T? P { get; init; } } } }")]
    [InlineData("[GenerateSerializer] public abstract record Shape([property: Id(0)] int A); [GenerateSerializer] public sealed record "
        + "Circle(int A, [property: Id(3)] double R) : Shape(A);")]
    [InlineData("[GenerateSerializer(GenerateFieldIds = GenerateFieldIds.PublicProperties)] public class P { public int A { get; set; } "
        + "public required string B { get; init; } }")]
    [InlineData("namespace A.B_C { [GenerateSerializer] public class D { [Id(0)] public int X; } } namespace A.B { [GenerateSerializer] "
        + "public class C_D { [Id(0)] public int X; } }")]
    [InlineData("public class B { public int M() => 1; } [GenerateSerializer] public class C(int a) : B { [Id(0)] private readonly int "
        + "_a = a; [Id(1)] public System.Func<int> F { get; set; } = () => a; }")]
    [InlineData("public interface IN { int N { get; set; } } [GenerateSerializer] public class C : IN { [Id(0)] int IN.N { get; set; } "
        + "public event System.Action? Changed; public void M() => Changed?.Invoke(); }")]
    [InlineData("[GenerateSerializer] public abstract class Map<T> : Dictionary<string, T> { protected Map(int capacity) : "
        + "base(capacity) { } } [GenerateSerializer] public class C : Map<int> { private C() : base(4) { } [Id(0)] public int A { get; } }")]
    [InlineData("public interface IG : IGrainWithGuidKey { } namespace A { public class RoomGrain : Grain, IG; public abstract class "
        + "HallGrain : IG; } namespace B { [GrainType(\"b\")] public class RoomGrain : Grain, IG; public class HallGrain : IG; }")]
    public async Task Correct_code_compiles_with_what_is_generated(string code)
    {
        Assert.Empty(await Analyze(code));
        var driver = CSharpGeneratorDriver.Create(new GrainGenerator());
        driver.RunGeneratorsAndUpdateCompilation(Compile(code), out var output, out _);
        using var stream = new MemoryStream();
        Assert.Empty(output.Emit(stream).Diagnostics.Where(d => d.Severity == DiagnosticSeverity.Error));
    }

    [Fact]
    public void An_unrelated_edit_generates_nothing_again()
    {
        var compilation =
            Compile("public interface IG : IGrainWithGuidKey { Task M(int a); } [GenerateSerializer] public class C { [Id(0)] public int "
                + "A; } public class X { public int Y() => 1; }");
        GeneratorDriver driver =
            CSharpGeneratorDriver.Create([new GrainGenerator().AsSourceGenerator()],
                driverOptions: new GeneratorDriverOptions(default, trackIncrementalGeneratorSteps: true));
        driver = driver.RunGenerators(compilation);
        var tree = compilation.SyntaxTrees.First();
        var edited = compilation.ReplaceSyntaxTree(
            tree, CSharpSyntaxTree.ParseText(tree.ToString().Replace("=> 1", "=> 2"), (CSharpParseOptions)tree.Options));
        var result = driver.RunGenerators(edited).GetRunResult().Results.Single();
        Assert.All(
            result.TrackedOutputSteps.SelectMany(s => s.Value).SelectMany(s => s.Outputs), output =>
                Assert.Equal(IncrementalStepRunReason.Cached, output.Reason));
        Assert.All(new[] { GrainGenerator.InterfaceStep, GrainGenerator.CodecStep }.SelectMany(name => result.TrackedSteps[name])
            .SelectMany(s => s.Outputs),
            output => Assert.Contains(output.Reason, new[] { IncrementalStepRunReason.Cached, IncrementalStepRunReason.Unchanged }));
    }

    [Fact]
    public void Code_is_generated_for_an_assembly_that_was_compiled_without_the_generator()
    {
        var library =
            Compile("public interface IRemote : IGrainWithGuidKey { Task M(); } [GenerateSerializer] public class Shared { [Id(0)] "
                + "public int A { get; init; } [Id(1)] private int _b; }", "Library");
        var user = Compile("[assembly: GenerateCodeForDeclaringAssembly(typeof(IRemote))] public interface IMore : IRemote { Task "
            + "N(Shared s); }", "User", library.ToMetadataReference());
        var driver = CSharpGeneratorDriver.Create(new GrainGenerator()).RunGeneratorsAndUpdateCompilation(user, out var output, out _);
        using var stream = new MemoryStream();
        Assert.Empty(output.Emit(stream).Diagnostics.Where(d => d.Severity == DiagnosticSeverity.Error));
        Assert.Contains(driver.GetRunResult().GeneratedTrees, t => t.FilePath.Contains("IRemote"));
    }

    [Fact]
    public void No_codec_is_generated_for_a_type_of_another_assembly_whose_members_cannot_be_set_from_here()
    {
        var library =
            Compile("public interface IRemote : IGrainWithGuidKey; [GenerateSerializer] public class Lost { [Id(0)] public int A { get; "
                + "} } [GenerateSerializer] public class Whole { [Id(0)] public int A { get; set; } }", "Library");
        using var image = new MemoryStream();
        library.Emit(image, options: new Microsoft.CodeAnalysis.Emit.EmitOptions(metadataOnly: true, includePrivateMembers: false));
        var reference = MetadataReference.CreateFromImage(image.ToArray());
        var user = Compile("[assembly: GenerateCodeForDeclaringAssembly(typeof(IRemote))]", "User", reference);
        var driver = CSharpGeneratorDriver.Create(new GrainGenerator()).RunGeneratorsAndUpdateCompilation(user, out _, out _);
        string[] generated = [.. driver.GetRunResult().GeneratedTrees.Select(static tree => Path.GetFileName(tree.FilePath))];
        Assert.Contains("Codec_Whole.g.cs", generated);
        Assert.DoesNotContain("Codec_Lost.g.cs", generated);
    }

    [Fact]
    public void Marked_assemblies_that_the_code_never_mentions_are_application_parts()
    {
        var grains = Generated(Compile("public interface IG : IGrainWithGuidKey { Task M(); }", "Grains"));
        var behind = Generated(Compile("public class Nothing;", "Behind", grains.ToMetadataReference()));
        var host = Compile(
            "public class Program;", "Host", behind.ToMetadataReference(), Compile("public class Plain;", "Plain").ToMetadataReference());
        Assert.Equal(["Grains"], Parts(behind));
        Assert.Equal(["Behind"], Parts(Generated(host)));
    }

    private static IEnumerable<string> Parts(Compilation compilation) =>
        compilation.Assembly.GetAttributes().Where(a => a.AttributeClass!.Name == nameof(ApplicationPartAttribute)).Select(
            a => (string)a.ConstructorArguments[0].Value!)
            .Where(name => !name.StartsWith("ActOp.", StringComparison.Ordinal) && !name.Contains("Tests", StringComparison.Ordinal));

    private static Compilation Generated(Compilation compilation)
    {
        CSharpGeneratorDriver.Create(new GrainGenerator()).RunGeneratorsAndUpdateCompilation(compilation, out var output, out _);
        return output;
    }

    [Theory]
    [InlineData("public class G : Grain { public async Task M() => await Task.CompletedTask.ConfigureAwait(true); }")]
    [InlineData("public class G : Grain { public async Task M() => await "
        + "Task.CompletedTask.ConfigureAwait(ConfigureAwaitOptions.ContinueOnCapturedContext); }")]
    [InlineData("public class C { public async Task M() => await Task.CompletedTask.ConfigureAwait(false); }")]
    public async Task An_await_that_stays_or_is_not_in_a_grain_is_not_reported(string code) => Assert.Empty(await Analyze(code));

    [Theory]
    [InlineData("ORLEANS0005", "[System.Serializable] public class {|C|} { }")]
    [InlineData("ORLEANS0010", "[GenerateSerializer] public class {|C|} { }")]
    [InlineData("ORLEANS0010", "public interface {|IG|} : IGrainWithGuidKey { }")]
    [InlineData("ORLEANS0010", "[Alias(\"g\")] public interface IG : IGrainWithGuidKey { Task {|M|}(); [Alias(\"n\")] Task N(); }")]
    public async Task What_may_become_a_mistake_is_an_information(string id, string code)
    {
        var start = code.IndexOf("{|", StringComparison.Ordinal);
        var expected = code[(start + 2)..code.IndexOf("|}", StringComparison.Ordinal)];
        var diagnostic = Assert.Single(await Analyze(code.Replace("{|", "").Replace("|}", ""), DiagnosticSeverity.Info));
        Assert.Equal((id, DiagnosticSeverity.Info), (diagnostic.Id, diagnostic.Severity));
        Assert.Equal(expected, diagnostic.Location.SourceTree!.GetText().ToString(diagnostic.Location.SourceSpan));
    }

    /// <summary>A source that imports what it does not use must compile: the names exist, also where nothing is public.</summary>
    [Theory]
    [InlineData("Orleans.Configuration.Validators")]
    [InlineData("Orleans.GrainReferences")]
    [InlineData("Orleans.Runtime.Configuration")]
    [InlineData("Orleans.Runtime.MembershipService")]
    [InlineData("Orleans.Runtime.Scheduler")]
    [InlineData("Orleans.Runtime.Utilities")]
    [InlineData("Orleans.Runtime.Versions")]
    [InlineData("Orleans.Streaming")]
    [InlineData("Orleans.Timers.Internal")]
    [InlineData("Orleans.Versions")]
    public void A_namespace_of_Orleans_can_be_imported(string name)
    {
        var compilation = Compile("")
            .AddSyntaxTrees(CSharpSyntaxTree.ParseText("using " + name + ";", new CSharpParseOptions(LanguageVersion.CSharp13)));
        Assert.Empty(compilation.GetDiagnostics().Where(static d => d.Severity == DiagnosticSeverity.Error));
    }

    private static async Task<ImmutableArray<Diagnostic>> Analyze(string code, DiagnosticSeverity least = DiagnosticSeverity.Warning) =>
        [.. (await Diagnostics(code)).Where(diagnostic => diagnostic.Severity >= least)];

    private static async Task<ImmutableArray<Diagnostic>> Diagnostics(string code) =>
        await Compile(code).WithAnalyzers([new GrainInterfaceAnalyzer(), new GrainClassAnalyzer(),
            new SerializableTypeAnalyzer(), new AttributeAnalyzer(), new AdviceAnalyzer()]).GetAnalyzerDiagnosticsAsync();

    private static CSharpCompilation Compile(string code, string name = "Sample", params MetadataReference[] references)
    {
        const string usings =
            "#nullable enable\nusing System.Collections.Generic; using System.Threading; using System.Threading.Tasks; using Orleans; "
                + "using Orleans.Runtime;\n";
        var parse = new CSharpParseOptions(LanguageVersion.CSharp13);
        return CSharpCompilation.Create(name, [CSharpSyntaxTree.ParseText(usings + code, parse)],
            [.. PlatformReferences.All, .. references], new CSharpCompilationOptions(
                OutputKind.DynamicallyLinkedLibrary, nullableContextOptions: NullableContextOptions.Enable));
    }
}
