using ActOp.Generators.Model;
using ActOp.Generators.Reading;
using Microsoft.CodeAnalysis;

namespace ActOp.Generators.Writing;

/// <summary>Writes the module initializer that registers everything of an assembly in the type manifest.</summary>
internal static class ManifestSource
{
    private const string Manifest = "global::ActOp.Serialization.TypeManifest.";
    public static string Write(
        string assembly, IEnumerable<InterfaceModel> interfaces, IEnumerable<NamedTypeModel> grains, IEnumerable<NamedTypeModel> exceptions,
        IEnumerable<string> codecs)
    {
        var name = "Manifest_" + Reading.TypeText.Mangle(assembly);
        var text = new SourceText();
        text.Line("[assembly: global::ActOp.Serialization.GeneratedManifest(typeof(global::ActOpGenerated." + name + "))]");
        text.Open("namespace ActOpGenerated");
        text.Open("internal static class " + name);
        text.Line("[global::System.Runtime.CompilerServices.ModuleInitializer]");
        text.Line(SourceText.MayUseObsolete);
        text.Open("internal static void Register()");
        text.Line("if (!" + Manifest + "Begin(typeof(" + name + ")))");
        text.Line("    return;");
        var calls = new HashSet<string>();
        foreach (var type in interfaces)
            WriteInterface(text, type, calls);
        foreach (var grain in grains)
            text.Line(Manifest + "AddGrainClass(typeof(" + grain.OpenType + "), " + SourceText.Quote(grain.WireName) + ");");
        foreach (var exception in exceptions)
            text.Line(Manifest + "AddType(typeof(" + exception.OpenType + "), " + SourceText.Quote(exception.WireName) + ");");
        foreach (var codec in codecs)
            text.Line(Manifest + codec);
        text.Close().Close().Close();
        return text.ToString();
    }

    /// <summary>
    /// The compiler drops references that the code does not mention, so the assemblies behind them would never be loaded: they are named
    /// here, for the manifest of the process.
    /// </summary>
    public static string WriteParts(IEnumerable<string> assemblies)
    {
        var text = new SourceText();
        foreach (var assembly in assemblies)
            text.Line("[assembly: global::Orleans.ApplicationPart(" + SourceText.Quote(assembly) + ")]");
        return text.ToString();
    }

    private static void WriteInterface(SourceText text, InterfaceModel type, HashSet<string> calls)
    {
        if (!type.Proxy.IsReference)
        {
            text.Line(Manifest + "AddInterfaceProxy(typeof(" + type.OpenInterfaceType + "), typeof(" + type.OpenReferenceClass + "));");
            return;
        }

        var factory = type.Arity > 0
            ? "typeof(" + type.OpenReferenceClass + ")"
            : "static (shared, key) => new " + type.OpenReferenceClass + "(shared, key)";
        text.Line(
            Manifest + "AddInterface(typeof(" + type.OpenInterfaceType + "), " + SourceText.Quote(type.WireName) + ", " + factory + ");");
        foreach (var call in type.Calls.Concat(type.ForeignCalls))
        {
            if (!calls.Add(call.ClassName))
                continue;
            var rent = call.Arity > 0
                ? "typeof(" + call.OpenClass + ")" : "static () => global::ActOp.Calls.CallPool<" + call.OpenClass + ">.Rent()";
            text.Line(
                Manifest + "AddCall(" + call.Id + "UL, typeof(" + call.OpenInterfaceType + "), " + SourceText.Quote(call.MethodName) +
                    ", " + rent + ");");
        }
    }
}

/// <summary>Registers the grain classes, and their bases, that hold no state in memory: those may be moved without loss.</summary>
internal static class StatelessSource
{
    /// <summary>The call on the type manifest, or null when the class holds state, is no grain or cannot be named.</summary>
    public static string? Registration(INamedTypeSymbol type, Compilation compilation, CancellationToken cancellation)
    {
        if (!GrainStateReader.IsGrainClass(type) || TypeText.Accessibility(type) is null)
            return null;
        var state = GrainStateReader.Read(type, compilation, cancellation);
        if (state.Member is not null || (state.OtherBase is { } other && TypeText.Accessibility(other) is null))
            return null;
        var vouching = state.OtherBase is { } known ? ", typeof(" + TypeText.Open(known) + ")" : "";
        return "AddStatelessClass(typeof(" + TypeText.Open(type) + ")" + vouching + ");";
    }
}
