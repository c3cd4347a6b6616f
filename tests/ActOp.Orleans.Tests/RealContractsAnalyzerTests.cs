using System.Reflection;
using ActOp.CodeFixes;
using ActOp.Generators;
using ActOp.Serialization.Tests;
using Microsoft.CodeAnalysis;
using Microsoft.CodeAnalysis.CodeFixes;
using Microsoft.CodeAnalysis.Diagnostics;

namespace ActOp.Orleans.Tests;

/// <summary>
/// The contracts analyzer beside that of Orleans 10.4.2, which is run as it is: the same differences with the same texts at the same
/// places, and the same file, so that a team can take its OrleansContracts.txt along, and back.
/// </summary>
public sealed class RealContractsAnalyzerTests : IDisposable
{
    private const string Source =
        """
        namespace Shop {
        [Alias("item")] public class Item {} [Alias("st")] public struct St {} public struct Ps {} [Alias("en")] public enum En { A }
        public class Box<T> {} [Alias("abox")] public class ABox<T> {} public class @class {}
        public class Out<T> { public class In<U> {} public class Plain {} [Alias("al")] public class Al<U> {} }
        public interface ICart : IGrainWithStringKey { Task AddAsync(int a); [Alias("get")] Task<string> GetAsync(); }
        public class CartGrain : Grain, ICart { public Task AddAsync(int a) => null!; public Task<string> GetAsync() => null!; }
        [GrainInterfaceType("gi"), Version(3)] public interface IT<T> : IGrainWithStringKey where T : class {
            Task A1(Item? a, St? b, Ps? c, En? d, Box<Item?>? e, ABox<Item?>? f);
            Task A2(Item?[]? a, Item?[][]? b, string?[]? c, int?[] d, St?[] e, Item[,][] f, List<int>[]? g);
            Task A3(Out<int>.In<Item> a, Out<Item>.Plain b, Out<Item>.Al<St> c);
            Task A4((Item? a, St b) a, (int, (Item x, string? y))? b, ValueTuple<int> c, Tuple<Item, int> d);
            Task A5(T? a, List<T?> b, T[] c);
            Task A6<U>(U a, U? b, Box<U> c) where U : struct;
            Task A7<U, V>(U? a, T b, V c) where U : class;
            Task A8(IT<T> a, IT<Item> b, @class d, Action<Item> e, Func<Item, Task> f, int g = 5, params string[] h);
            Task A9(nint a, object? c, IntPtr d, Int32 e, Nullable<int> f, Type g);
            [Alias("we:ird #x\\y z")] Task B1(); [Id(7), Alias("both")] Task B2(); [Id(9)] Task B3<U, V>(U a, V b);
            Task<T?> R1(); Task<Item?> R2(); ValueTask<Item[]?> R3(); Task<(Item? a, T b)> R4(); IAsyncEnumerable<Item?> R5();
            Task<int?> R6(); Task<List<string?>?> R7(); void R8(); ValueTask R9();
            sealed Task Sealed() => null!; virtual Task Virtual() => null!; static int Static() => 3;
        }
        public interface IEyes : IGrainObserver { Task Seen(int a); } public interface IExt : IGrainExtension { Task A(); }
        public interface IAddr : IAddressable { Task A(); } public interface ISys : ISystemTarget { Task A(); }
        public interface IDerived : ICart, INone { Task Own(); } public interface INone { Task M(); }
        public class Outer<T> {
            public interface IInner<U> : IGrainWithStringKey { Task A(T t, U u); } public class InGrain<U> : IGrainWithGuidKey {}
        }
        public abstract class Abstract : IGrainWithGuidKey {} public record RecordGrain : IGrainWithGuidKey {} public class Plain : Grain {}
        [GrainType("named")] public class Named : Abstract {} public class Hidden { private class PrivateGrain : IGrainWithGuidKey {} }
        }
        public interface IGlobal : IGrainWithStringKey { Task A(Shop.Item i); }
        public class GRAINS : IGlobal { public Task A(Shop.Item i) => null!; }
        """;

    private const string Small =
        """
        public interface ICart : IGrainWithStringKey { Task AddAsync(int a); [Alias("get")] Task<string> GetAsync(); }
        public class CartGrain : Grain, ICart { public Task AddAsync(int a) => null!; public Task<string> GetAsync() => null!; }
        """;

    private const string I = "interface [GrainInterfaceType(\"ICart\")] ICart [Version(0)]\n";
    private const string A = "  41F98851: AddAsync(int) -> Task\n";
    private const string G = "  get: GetAsync() -> Task<string>\n";
    private const string C = "class [GrainType(\"cart\")] CartGrain\n";

    private static readonly MetadataReference[] References =
    [
        .. ((string)AppContext.GetData("TRUSTED_PLATFORM_ASSEMBLIES")!).Split(Path.PathSeparator)
            .Where(static path => !Path.GetFileName(path).StartsWith("ActOp.", StringComparison.Ordinal))
            .Select(static path => MetadataReference.CreateFromFile(path)),
    ];

    private readonly ContractsProbe _real = new(
        Made<DiagnosticAnalyzer>("GrainInterfaceVersionAnalyzer"), Made<CodeFixProvider>("GrainInterfaceVersionCodeFix"), References);

    private readonly ContractsProbe _ours = new(new ContractsAnalyzer(), new ContractsFix(), References);

    public void Dispose()
    {
        _real.Dispose();
        _ours.Dispose();
    }

    [Fact]
    public void Rules_have_the_texts_and_severities_of_Orleans()
    {
        static string[] Texts(DiagnosticAnalyzer analyzer) =>
            [.. analyzer.SupportedDiagnostics.Select(static d => $"{d.Id} {d.DefaultSeverity} {d.Category} {d.Title}: {d.MessageFormat}")
                .Order(StringComparer.Ordinal)];

        Assert.Equal(Texts(Made<DiagnosticAnalyzer>("GrainInterfaceVersionAnalyzer")), Texts(new ContractsAnalyzer()));
        Assert.Equal(
            Made<CodeFixProvider>("GrainInterfaceVersionCodeFix").FixableDiagnosticIds.Order(StringComparer.Ordinal),
            new ContractsFix().FixableDiagnosticIds);
    }

    [Theory]
    [InlineData("")]
    [InlineData(I + A + G + C)]
    [InlineData("*RETIRED* " + I + A + G + "*RETIRED* " + C)]
    [InlineData("interface [GrainInterfaceType(\"ICart\")] ICart [Version(2)]\n" + A + G + C)]
    [InlineData("interface [GrainInterfaceType(\"other\")] ICart [Version(0)]\n" + A + G + C)]
    [InlineData("interface [GrainInterfaceType(\"ICart\")] IOld [Version(0)]\n" + A + "  get: Fetch() -> Task<string>\n" + C)]
    [InlineData(I + A + C)]
    [InlineData(I + "  41F98851: AddAsync(long) -> Task\n  take: GetAsync() -> Task<string>\n" + C)]
    [InlineData(I + A + G + "  ABCDEF01: Gone(int) -> Task\n  get: GetAsync() -> Task<int>\n" + C)]
    [InlineData(I + A + G + C + "interface [GrainInterfaceType(\"IGone\")] IGone [Version(1)]\n  ABCDEF01: Gone(int) -> Task\n")]
    [InlineData(I + A + G + "class [GrainType(\"cat\")] CartGrain\nclass [GrainType(\"gone\")] GoneGrain\n")]
    [InlineData(I + A + G + "class [GrainType(\"cart\")] OldGrain\nclass [GrainType(\"old\")] CartGrain\n")]
    [InlineData(I + A + G + C + I + A + C + "class [GrainType(\"cart\")] OtherGrain\n")]
    [InlineData(I + A + G + C + "*RETIRED* " + I + "*RETIRED* " + C)]
    [InlineData("ICart [Version(0)]\n  AddAsync(int) -> Task\n  get:GetAsync() -> Task<string>\nclass CartGrain\n")]
    [InlineData(I + A + C + G)]
    [InlineData("interface [GrainInterfaceType(\"ICart\")] ICart [Version(99999)]\n" + A + G + C)]
    [InlineData("# a\n\n" + I + "  # b\n" + A + "\n# c\n*RETIRED* class [GrainType(\"x\")] XGrain\n")]
    public async Task Differences_and_the_file_are_those_of_Orleans(string contracts) => await Compare(Small, contracts);

    [Fact]
    public async Task A_file_made_by_either_is_complete_for_the_other() => await Compare(Source, "");

    private async Task Compare(string source, string contracts)
    {
        var (expected, file) = await Run(_real, source, contracts);
        var (actual, ours) = await Run(_ours, source, contracts);
        Assert.Equal(expected, actual);
        Assert.Equal(file, ours);
        if (file is null || contracts.Length > 0)
            return;
        Assert.Empty(await _real.Diagnostics(_real.Project(source, ours)));
        Assert.Empty(await _ours.Diagnostics(_ours.Project(source, file)));
    }

    private static async Task<(string[] Found, string? File)> Run(ContractsProbe probe, string source, string contracts)
    {
        var project = probe.Project(source, contracts);
        var found = await probe.Diagnostics(project);
        var lines = new List<string>();
        foreach (var one in found)
            lines.Add($"{one.Id} {one.Severity} at {await ContractsProbe.Place(project, one)}: {one.GetMessage()}");
        var fixable = found.FirstOrDefault(static d => d.Id is not "ORLEANS0021" and not "ORLEANS0025" and not "ORLEANS0027");
        return ([.. lines.Order(StringComparer.Ordinal)],
            fixable is null ? null : await probe.Fixed(project, fixable, "Regenerate OrleansContracts.txt"));
    }

    private static T Made<T>(string name)
    {
        var packages = typeof(RealContractsAnalyzerTests).Assembly.GetCustomAttributes<AssemblyMetadataAttribute>()
            .Single(static one => one.Key == "Packages").Value!;
        var assembly = Assembly.LoadFrom(
            Path.Combine(packages, "microsoft.orleans.analyzers/10.4.2/tools/analyzers/Orleans.Analyzers.Contracts.dll"));
        return (T)Activator.CreateInstance(assembly.GetType("Orleans.Analyzers." + name, throwOnError: true)!)!;
    }
}
