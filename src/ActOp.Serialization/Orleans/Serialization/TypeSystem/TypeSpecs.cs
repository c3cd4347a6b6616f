using System.Text;

namespace Orleans.Serialization.TypeSystem;

/// <summary>A type as text says it. What it names need not exist.</summary>
public abstract class TypeSpec
{
    /// <summary>The text; <see cref="RuntimeTypeNameParser"/> reads it.</summary>
    public abstract string Format();

    public override string ToString() => Format();
}

/// <summary>A pointer.</summary>
public class PointerTypeSpec(TypeSpec elementType) : TypeSpec
{
    public TypeSpec ElementType { get; } = elementType ?? throw new ArgumentNullException(nameof(elementType));

    public override string Format() => ElementType.Format() + "*";
}

/// <summary>A type by reference.</summary>
public class ReferenceTypeSpec(TypeSpec elementType) : TypeSpec
{
    public TypeSpec ElementType { get; } = elementType ?? throw new ArgumentNullException(nameof(elementType));

    public override string Format() => ElementType.Format() + "&";
}

/// <summary>An array.</summary>
public class ArrayTypeSpec : TypeSpec
{
    public ArrayTypeSpec(TypeSpec elementType, int dimensions)
    {
        ArgumentNullException.ThrowIfNull(elementType);
        ArgumentOutOfRangeException.ThrowIfNegativeOrZero(dimensions);
        ElementType = elementType;
        Dimensions = dimensions;
    }

    public int Dimensions { get; }

    public TypeSpec ElementType { get; }

    public override string Format() => ElementType.Format() + "[" + new string(',', Dimensions - 1) + "]";
}

/// <summary>A generic type with arguments.</summary>
public class ConstructedGenericTypeSpec : TypeSpec
{
    public ConstructedGenericTypeSpec(TypeSpec unconstructedType, int arity, TypeSpec[] arguments)
    {
        ArgumentNullException.ThrowIfNull(unconstructedType);
        ArgumentNullException.ThrowIfNull(arguments);
        if (arity != arguments.Length)
        {
            throw new ArgumentException("Invalid number of arguments " + arguments.Length
                + " provided while constructing generic type of arity " + arity + ": " + unconstructedType, nameof(arguments));
        }

        UnconstructedType = unconstructedType;
        Arguments = arguments;
    }

    public TypeSpec UnconstructedType { get; }

    public TypeSpec[] Arguments { get; }

    public override string Format() =>
        UnconstructedType.Format() + "[" + string.Join(',', Arguments.Select(static a => "[" + a.Format() + "]")) + "]";
}

/// <summary>A name, with the type that contains it.</summary>
public class NamedTypeSpec : TypeSpec
{
    public NamedTypeSpec(NamedTypeSpec? containingType, string name, int arity)
    {
        ContainingType = containingType;
        Name = name;
        if (containingType is not null && arity < containingType.Arity)
            throw new ArgumentException("A named type cannot have an arity less than that of its containing type.");
        if (arity < 0)
            throw new ArgumentException("A type cannot have a negative arity.");
        Arity = arity;
    }

    /// <summary>How many type parameters it has, those of the containing type included.</summary>
    public int Arity { get; }

    public string Name { get; }

    public NamedTypeSpec? ContainingType { get; }

    public string GetNamespaceQualifiedName() => Format();

    public override string Format() => ContainingType is null ? Name : ContainingType.Format() + "+" + Name;
}

/// <summary>A type and its assembly.</summary>
public class AssemblyQualifiedTypeSpec(TypeSpec type, string assembly) : TypeSpec
{
    public string Assembly { get; } = assembly;

    public TypeSpec Type { get; } = type;

    public override string Format() => Type.Format() + (string.IsNullOrEmpty(Assembly) ? "" : "," + Assembly);
}

/// <summary>A type that is put together of parts.</summary>
public class TupleTypeSpec : TypeSpec
{
    public TupleTypeSpec(TypeSpec[] elements, int genericArity)
    {
        ArgumentNullException.ThrowIfNull(elements);
        if (genericArity < 0)
            throw new ArgumentException("A type cannot have a negative arity.");
        Elements = elements;
        GenericArity = genericArity;
    }

    public TypeSpec[] Elements { get; }

    public int GenericArity { get; }

    public override string Format() =>
        "(" + string.Join(',', Elements.Select(static e => e is LiteralTypeSpec ? e.Format() : "[" + e.Format() + "]")) + ")"
        + (GenericArity > 0 ? "`" + GenericArity : "");
}

/// <summary>A text within a tuple.</summary>
public class LiteralTypeSpec(string value) : TypeSpec
{
    public string Value { get; } = value;

    public override string Format() => "\"" + Value + "\"";
}

/// <summary>A type's name and its assembly.</summary>
public readonly struct QualifiedType : IEquatable<QualifiedType>
{
    public QualifiedType(string? assembly, string type)
    {
        Assembly = assembly;
        Type = type;
    }

    public static IEqualityComparer<QualifiedType> EqualityComparer { get; } = EqualityComparer<QualifiedType>.Default;

    public string? Assembly { get; }

    public string Type { get; }

    public static implicit operator QualifiedType((string? Assembly, string Type) args) => new(args.Assembly, args.Type);

    public static bool operator ==(QualifiedType left, QualifiedType right) => left.Equals(right);

    public static bool operator !=(QualifiedType left, QualifiedType right) => !left.Equals(right);

    public void Deconstruct(out string? assembly, out string type) => (assembly, type) = (Assembly, Type);

    public bool Equals(QualifiedType other) => Assembly == other.Assembly && Type == other.Type;

    public override bool Equals(object? obj) => obj is QualifiedType other && Equals(other);

    public override int GetHashCode() => HashCode.Combine(Assembly, Type);
}

/// <summary>Writes names of types without the versions of their assemblies.</summary>
public static class RuntimeTypeNameFormatter
{
    private static readonly System.Reflection.Assembly Core = typeof(int).Assembly;
    private static readonly System.Runtime.CompilerServices.ConditionalWeakTable<Type, string> Names = [];

    /// <summary>The name, by which <see cref="TypeResolver"/> finds the type.</summary>
    public static string Format(Type type)
    {
        ArgumentNullException.ThrowIfNull(type);
        return Names.GetValue(type, static t =>
        {
            var text = new StringBuilder();
            Append(text, t);
            return text.ToString();
        });
    }

    private static void Append(StringBuilder text, Type type)
    {
        AppendName(text, type);
        var element = type;
        while (element.HasElementType)
            element = element.GetElementType()!;
        if (element.Assembly != Core)
            text.Append(',').Append(element.Assembly.GetName().Name);
    }

    private static void AppendName(StringBuilder text, Type type)
    {
        if (type.HasElementType)
        {
            AppendName(text, type.GetElementType()!);
            text.Append(type.IsArray ? "[" + new string(',', type.GetArrayRank() - 1) + "]" : type.IsPointer ? "*" : "&");
            return;
        }

        if (type.IsGenericParameter)
        {
            text.Append(type.Name);
            return;
        }

        text.Append((type.IsGenericType ? type.GetGenericTypeDefinition() : type).FullName);
        if (!type.IsConstructedGenericType)
            return;
        text.Append('[');
        var isFirst = true;
        foreach (var argument in type.GetGenericArguments())
        {
            text.Append(isFirst ? "[" : ",[");
            isFirst = false;
            Append(text, argument);
            text.Append(']');
        }

        text.Append(']');
    }
}

/// <summary>Reads what <see cref="RuntimeTypeNameFormatter"/> writes, without looking for the types.</summary>
public static class RuntimeTypeNameParser
{
    /// <exception cref="InvalidOperationException">The text is no name of a type.</exception>
    public static TypeSpec Parse(string input) => Parse((input ?? throw new ArgumentNullException(nameof(input))).AsSpan());

    /// <exception cref="InvalidOperationException">The text is no name of a type.</exception>
    public static TypeSpec Parse(ReadOnlySpan<char> input)
    {
        var parser = new Parser(input);
        var result = parser.ParseType(0);
        return parser.IsAtEnd ? result : throw parser.Error("unexpected text after the type");
    }

    private ref struct Parser(ReadOnlySpan<char> input)
    {
        private const int MaxDepth = 64;

        private readonly ReadOnlySpan<char> _input = input;
        private int _at;

        public readonly bool IsAtEnd => _at == _input.Length;

        private readonly char Next => _at < _input.Length ? _input[_at] : '\0';

        public TypeSpec ParseType(int depth)
        {
            if (depth > MaxDepth)
                throw Error("nested too deep");
            TypeSpec result = Next == '(' ? ParseTuple(depth) : ParseName(out _);
            var arity = result switch { NamedTypeSpec named => named.Arity, TupleTypeSpec tuple => tuple.GenericArity, _ => 0 };
            if (arity > 0 && Next == '[' && _at + 1 < _input.Length && _input[_at + 1] == '[')
                result = new ConstructedGenericTypeSpec(result, arity, ParseArguments(arity, depth));
            result = ParseSuffixes(result);
            if (Next == ',')
            {
                _at++;
                result = new AssemblyQualifiedTypeSpec(result, ParseAssembly());
            }

            return result;
        }

        public readonly InvalidOperationException Error(string what) =>
            new("Invalid type name \"" + _input.ToString() + "\" at " + _at + ": " + what + ".");

        private NamedTypeSpec ParseName(out int arity)
        {
            NamedTypeSpec? containing = null;
            arity = 0;
            while (true)
            {
                var start = _at;
                while (_at < _input.Length && "[],`+*&()\"".IndexOf(_input[_at]) < 0)
                    _at += _input[_at] == '\\' ? Math.Min(2, _input.Length - _at) : 1;
                if (_input[start.._at].IsWhiteSpace())
                    throw Error("a name is missing");
                if (Next == '`')
                {
                    _at++;
                    arity += ParseNumber();
                }

                containing = new NamedTypeSpec(containing, _input[start.._at].ToString(), arity);
                if (Next != '+')
                    return containing;
                _at++;
            }
        }

        private int ParseNumber()
        {
            var start = _at;
            while (char.IsAsciiDigit(Next))
                _at++;
            return int.TryParse(_input[start.._at], out var number) && number is > 0 and < 256
                ? number : throw Error("a number of type parameters is missing");
        }

        private TypeSpec[] ParseArguments(int arity, int depth)
        {
            var arguments = new TypeSpec[arity];
            Expect('[');
            for (var i = 0; i < arity; i++)
            {
                if (i > 0)
                    Expect(',');
                Expect('[');
                arguments[i] = ParseType(depth + 1);
                Expect(']');
            }

            Expect(']');
            return arguments;
        }

        private TypeSpec ParseSuffixes(TypeSpec type)
        {
            while (true)
            {
                switch (Next)
                {
                    case '*':
                        _at++;
                        type = new PointerTypeSpec(type);
                        break;
                    case '&':
                        _at++;
                        type = new ReferenceTypeSpec(type);
                        break;
                    case '[':
                        _at++;
                        var dimensions = 1;
                        for (; Next == ','; _at++)
                            dimensions++;
                        Expect(']');
                        type = new ArrayTypeSpec(type, dimensions);
                        break;
                    default:
                        return type;
                }
            }
        }

        private TupleTypeSpec ParseTuple(int depth)
        {
            var elements = new List<TypeSpec>();
            Expect('(');
            do
            {
                if (elements.Count > 0)
                    Expect(',');
                if (Next == '"')
                {
                    elements.Add(ParseLiteral());
                }
                else
                {
                    Expect('[');
                    elements.Add(ParseType(depth + 1));
                    Expect(']');
                }
            }
            while (Next == ',');
            Expect(')');
            var arity = 0;
            if (Next == '`')
            {
                _at++;
                arity = ParseNumber();
            }

            return new TupleTypeSpec([.. elements], arity);
        }

        private LiteralTypeSpec ParseLiteral()
        {
            Expect('"');
            var start = _at;
            while (Next is not ('"' or '\0'))
                _at++;
            var value = _input[start.._at].ToString();
            Expect('"');
            return new LiteralTypeSpec(value);
        }

        private string ParseAssembly()
        {
            var start = _at;
            while (_at < _input.Length && _input[_at] is not (']' or ')'))
                _at++;
            var name = _input[start.._at].Trim();
            return name.IsEmpty ? throw Error("the name of an assembly is missing") : name.ToString();
        }

        private void Expect(char c)
        {
            if (Next != c)
                throw Error("'" + c + "' is missing");
            _at++;
        }
    }
}
